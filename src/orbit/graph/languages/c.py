"""C: what the captures of c.scm mean. Names with external linkage are bare; static ones belong to their file."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.languages.language import Language, Layout
from orbit.model import REF_KIND_CODES

if TYPE_CHECKING:
    from orbit.graph.facts import Definition, FileFacts

NONE = -1
USE, TYPE = REF_KIND_CODES["use"], REF_KIND_CODES["type"]
KIND, NAME, RECEIVER, SCOPE, FLAGS = 0, 1, 5, 6, 8  # columns of a reference
NEW = 1
HEAD_ROOM = 400  # bytes of a definition in which its storage class stands
INCLUDE_FOLDERS = ("", "include", "src", "inc", "lib", "source")
NO_PARAMETERS = re.compile(rb"[^(]*\(\s*void\s*\)")
VARIADIC = re.compile(rb"\.\.\.\s*\)")
STATIC = re.compile(rb"\bstatic\b|\bSTATIC\b")
AFTER_TYPE = re.compile(rb"(\w+)\s+(?=(\w+)\s*\()")  # `LIB_API type name(...)`: the grammar takes the type for the name
FUNCTIONS = ("function", "function_declaration")


def module_of(path: str, layout: Layout) -> str:
    """A file is its own module: only what is static is named after it."""
    return path


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """The included file: beside the including one, else below a folder on the way up that could be an include path."""
    if text.startswith("/"):
        return None
    folder = posixpath.dirname(path)
    beside = posixpath.normpath(posixpath.join(folder, text))
    if layout.has(beside):
        return beside
    while True:
        for place in INCLUDE_FOLDERS:
            found = posixpath.normpath(posixpath.join(folder, place, text))
            if layout.has(found):
                return found
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def fix_up(facts: FileFacts) -> None:
    """Bare names, static linkage, empty parameter lists, uses of locals."""
    facts.binds = facts.binds[facts.binds[:, 4] != NONE]  # outside functions there are no locals, whatever the grammar makes of a macro
    for found in facts.definitions:
        if found.kind in FUNCTIONS and (type_ := AFTER_TYPE.match(facts.source, found.name_start)):
            found.name, found.type, found.name_start = type_[2].decode(errors="replace"), facts.id(found.name), type_.end()
        _place(facts, found)
        if found.kind in ("typedef", "global") and found.body == NONE:
            brace = facts.source.find(b"{", found.start, found.name_start)
            found.body = brace if brace >= 0 else NONE
        if found.kind in FUNCTIONS or found.kind == "global":
            head = facts.source[found.start : min(found.name_start, found.start + HEAD_ROOM)]
            if STATIC.search(head):
                found.flags = found.flags | {"static"}
            if found.kind == "global" and b"extern" in head and found.value == NONE:
                found.flags = found.flags | {"extern"}
        if found.kind in FUNCTIONS:
            until = found.body if found.body != NONE else found.end
            text = facts.source[found.name_start : until]
            if NO_PARAMETERS.match(text):
                found.argc = 0
            elif VARIADIC.search(text):
                found.flags = found.flags | {"varargs"}
    _drop_local_uses(facts)


def _place(facts: FileFacts, found: Definition) -> None:
    """Tags, typedefs, enumerators and functions live at the top wherever they stand; a field belongs to what encloses it."""
    around = facts.definitions[found.parent] if found.parent != NONE else None
    while around is not None and around.kind == found.kind and (around.start, around.end) == (found.start, found.end):  # int a, b;
        found.parent = around.parent
        around = facts.definitions[found.parent] if found.parent != NONE else None
    if found.kind == "macro" and facts.source[found.end - 1 : found.end] == b"\n":  # a directive takes its line end with it
        found.end -= 1
        found.end_line -= 1
    found.local = f"{around.local}.{found.name}" if found.kind == "field" and around is not None else found.name


def _drop_local_uses(facts: FileFacts) -> None:
    refs = facts.refs
    if not len(refs):
        return
    measured = (refs[:, KIND] == TYPE) & (refs[:, FLAGS] == NEW)
    uses = np.flatnonzero(((refs[:, KIND] == USE) & (refs[:, RECEIVER] == NONE)) | measured)
    refs[measured, FLAGS] = 0
    bound = set(zip(facts.binds[:, 4].tolist(), facts.binds[:, 1].tolist(), strict=True))
    keep = np.ones(len(refs), dtype=bool)
    keep[uses] = [key not in bound for key in zip(refs[uses, SCOPE].tolist(), refs[uses, NAME].tolist(), strict=True)]
    facts.refs = refs[keep]


LANGUAGES = {
    "c": Language(
        name="c",
        grammar=("tree_sitter_c", "language"),
        suffixes=(".c", ".h"),
        module_of=module_of,
        import_target=import_target, aims_by_folder=True,
        fix_up=fix_up,
        global_names=True,
        shared_suffixes=(".h",),
        collections=("[]",),
        builtins=frozenset({
            "NULL", "malloc", "calloc", "realloc", "free", "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp",
            "strcpy", "strncpy", "strcat", "strncat", "strchr", "strrchr", "strstr", "strdup", "strtol", "strtoul", "strtod", "printf", "fprintf",
            "sprintf", "snprintf", "vsnprintf", "vfprintf", "puts", "fputs", "fputc", "putchar", "fopen", "fclose", "fread", "fwrite", "fgets",
            "fseek", "ftell", "fflush", "exit", "abort", "assert", "sizeof", "va_start", "va_end", "va_arg", "va_copy", "va_list", "errno", "stdin",
            "stdout", "stderr", "FILE", "size_t", "ssize_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
            "uint64_t", "uintptr_t", "intptr_t", "ptrdiff_t", "bool", "true", "false", "getenv", "qsort", "bsearch", "atoi", "isdigit", "isalpha",
            "isspace", "tolower", "toupper", "offsetof",
        }),
        test_files=("tests/*.c", "*/tests/*.c", "test/*.c", "*/test/*.c", "test_*.c", "*/test_*.c", "*_test.c"),
    )
}  # fmt: skip
