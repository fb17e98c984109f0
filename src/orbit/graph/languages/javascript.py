"""JavaScript: what the captures of ecmascript.scm, jsx.scm and javascript.scm mean, and the types that JSDoc comments say."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from orbit.graph.languages import typescript
from orbit.graph.languages.language import Language
from orbit.graph.languages.script_modules import MANIFESTS, import_target, module_of

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts, Mark

NONE = -1
FORM_PARAM = 1
TYPED = re.compile(rb"@(?:param|arg|argument|type|returns?|typedef)\s*\{|@import\b")
TAG = re.compile(r"@(param|arg|argument|type|returns?|template|typedef|prop|property|import)\b\s*")
PARAM_NAME = re.compile(r"\s*(\[?)\s*([\w$]+)(?=[\s\]=]|$)")
WORD = re.compile(r"\s*([\w$]+)")
IMPORTED_TYPE = re.compile(r"""import\(\s*["']([^"']+)["']\s*\)(?:\.([\w$]+))?""")
IMPORT_TAG = re.compile(r"""(?:([\w$]+)\s*,?\s*)?(?:\{([^}]*)\}|\*\s*as\s+([\w$]+))?\s*from\s*["']([^"']+)["']""")
# What may stand between a comment and the name it speaks of.
BEFORE_DEFINITION = re.compile(rb"(?:\s|export\b|default\b|const\b|let\b|var\b|async\b|static\b|module\.exports\s*=|return\b|\()*")
BEFORE_NAME = re.compile(rb"\s*(?:(?:export|const|let|var|static)\s+|this\.)*")
ASSIGNS = re.compile(rb"\s*=\s*\(?\s*")
NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$#")


def fix_up(facts: FileFacts) -> None:
    """What TypeScript does, then the types written in comments."""
    typescript.fix_up(facts)
    if b"/**" in facts.source and TYPED.search(facts.source):
        _Documentation(facts).read()


class _Documentation:
    """JSDoc comments of one file: each gives types to the definition or variable right after it."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        order = sorted(range(len(facts.definitions)), key=lambda index: (facts.definitions[index].start, -facts.definitions[index].end))
        self._order, self._starts = order, [facts.definitions[index].start for index in order]
        self._rows = facts.binds.tolist()
        self._by_start = {row[5]: index for index, row in enumerate(self._rows)}
        self._params = {(row[4], row[1]): index for index, row in enumerate(self._rows) if row[0] == FORM_PARAM}
        self._by_name_start = {found.name_start: index for index, found in enumerate(facts.definitions)}
        self._patterns: dict[int, list[Mark]] = {}  # parameters that are taken apart, by function
        self._values = [mark for mark in facts.marks if mark.flags == {"pattern"}]
        for mark in facts.marks:
            if "param" in mark.flags:
                self._patterns.setdefault(mark.scope, []).append(mark)
        self._counted = (0, 1)  # position, its line
        self._imported: set[str] = set()

    def read(self) -> None:
        source, end = self._facts.source, 0
        while True:
            start = source.find(b"/**", end)
            end = source.find(b"*/", start + 3) + 2
            if start < 0 or end < 2:
                return
            if source.find(b"@", start, end) >= 0:
                self._read_comment(source[start:end].decode("utf-8", "replace"), start, end)

    def _read_comment(self, text: str, start: int, end: int) -> None:
        facts, index, declared = self._facts, None, NONE
        for tag in TAG.finditer(text):
            word, at = tag[1], tag.end()
            if index is None:
                index = self._definition_after(end)
            if word == "import":
                self._import(text, at, start)
                continue
            written, after = _braced(text, at)
            if word == "template":
                name = WORD.match(text, after if written else at)
                if name and index != NONE:
                    facts.add_binds([(0, facts.id(name[1]), NONE, NONE, index, start)])
                continue
            if not written:
                continue
            type_id = self._type(written, start)
            if word == "typedef":
                declared = self._typedef(text, after, start, end, type_id)
            elif word.startswith("prop"):
                self._property(text, after, start, declared, type_id)
            elif word == "type":
                self._annotate(index, start, end, type_id)
            elif index == NONE:
                continue
            elif word.startswith("return"):
                if facts.definitions[index].type == NONE:
                    facts.definitions[index].type = type_id
            else:
                name = PARAM_NAME.match(text, after)
                row = self._params.get((index, facts.id(name[2]))) if name else None
                if row is not None and facts.binds[row, 2] == NONE:
                    facts.binds[row, 2] = type_id
                elif row is None and name and self._patterns.get(index):
                    typescript.take_apart(facts, self._patterns[index].pop(0), f":{facts.text(type_id)}")

    def _definition_after(self, end: int) -> int:
        """The definition a comment that ends here speaks of, or NONE."""
        at = bisect_left(self._starts, end)
        if at >= len(self._starts):
            return NONE
        begins = self._starts[at]
        return self._order[at] if begins - end < 400 and BEFORE_DEFINITION.fullmatch(self._facts.source, end, begins) else NONE

    def _annotate(self, index: int, start: int, end: int, type_id: int) -> None:
        """`@type` before a declaration, or as a cast of what is assigned."""
        facts = self._facts
        held = BEFORE_NAME.match(facts.source, end)
        row = self._by_start.get(held.end()) if held else None
        if row is None:
            name_start = _assigned_before(facts.source, start)
            if name_start != NONE:
                row, index = self._by_start.get(name_start), self._by_name_start.get(name_start, NONE)
            for mark in self._values if name_start == NONE else ():
                if mark.end < start and ASSIGNS.fullmatch(facts.source, mark.end, start):
                    typescript.take_apart(facts, mark, f":{facts.text(type_id)}")
        if row is not None:
            facts.binds[row, 2] = type_id
        if index != NONE and facts.definitions[index].kind in ("const", "var", "property"):
            facts.definitions[index].type = type_id

    def _type(self, written: str, start: int) -> int:
        """The canonical type; types of other modules (`import("x").T`) become imports."""
        written = IMPORTED_TYPE.sub(lambda found: self._imported_type(found[1], found[2] or "", start), written).strip()
        written = written.strip("?!").removeprefix("...").removesuffix("=").replace(".<", "<")
        return self._facts.type_id(written)

    def _imported_type(self, path: str, name: str, start: int) -> str:
        """A type of another module, or the module's own when no name is given, under a name that nothing else in the file has."""
        alias = re.sub(r"\W+", "_", f"import_{path}_{name}")
        if alias not in self._imported:
            self._imported.add(alias)
            self._facts.add_import(path, start, start, self._line(start), name=name, alias=alias, flags=frozenset({"type"}))
        return alias

    def _import(self, text: str, at: int, start: int) -> None:
        """`@import { A, B as C } from "x"`."""
        found = IMPORT_TAG.match(text, at)
        if not found:
            return
        line, flags = self._line(start), frozenset({"type"})
        if found[1]:
            self._facts.add_import(found[4], start, start, line, name="default", alias=found[1], flags=flags)
        if found[3]:
            self._facts.add_import(found[4], start, start, line, alias=found[3], flags=flags)
        for part in (found[2] or "").replace("*", " ").split(","):
            words = part.split()
            if words and (len(words) == 1 or (len(words) == 3 and words[1] == "as")):
                self._facts.add_import(found[4], start, start, line, name=words[0], alias=words[2] if len(words) == 3 else "", flags=flags)

    def _typedef(self, text: str, after: int, start: int, end: int, type_id: int) -> int:
        """The index of the type that is declared, or NONE."""
        name = WORD.match(text, after)
        if not name:
            return NONE
        line = self._line(start)
        found = self._facts.define("type_alias", name[1], start, end, line, name_start=start + _size(text, name.start(1)))
        found.end_line, found.type = line + text.count("\n"), type_id
        return len(self._facts.definitions) - 1

    def _property(self, text: str, after: int, start: int, declared: int, type_id: int) -> None:
        name = PARAM_NAME.match(text, after)
        if name and declared != NONE:
            begins, line = start + _size(text, name.start(2)), self._line(start) + text.count("\n", 0, after)
            found = self._facts.define("property", name[2], begins, begins + len(name[2].encode()), line, parent=declared)
            found.type = type_id

    def _line(self, at: int) -> int:
        """Comments are read in order, so lines are counted on from the last one asked for."""
        if at < self._counted[0]:
            self._counted = (0, 1)
        self._counted = (at, self._counted[1] + self._facts.source.count(b"\n", self._counted[0], at))
        return self._counted[1]


def _size(text: str, end: int) -> int:
    """Bytes of the text up to a place."""
    return len(text[:end].encode("utf-8", "replace"))


def _assigned_before(source: bytes, start: int) -> int:
    """Where the name begins that gets the value that starts here (`x = /** @type {T} */ (value)`), or NONE."""
    before = source[max(0, start - 120) : start].rstrip()
    if not before.endswith(b"=") or before.endswith((b"==", b"!=")):
        return NONE
    end = at = len(before[:-1].rstrip())
    while at and before[at - 1] in NAME_BYTES:
        at -= 1
    return max(0, start - 120) + at if at < end else NONE


def _braced(text: str, at: int) -> tuple[str, int]:
    """What stands in the braces that open here, and where they end; empty when none do."""
    if text[at : at + 1] != "{":
        return "", at
    depth, end = 1, at
    while depth:
        end = text.find("}", end + 1)
        if end < 0:
            return "", at
        depth = 1 + text.count("{", at + 1, end) - text.count("}", at + 1, end + 1)
    return text[at + 1 : end], end + 1


LANGUAGES = {
    "javascript": Language(
        name="javascript",
        grammar=("tree_sitter_javascript", "language"),
        suffixes=(".js", ".jsx", ".mjs", ".cjs"),
        query="ecmascript.scm jsx.scm javascript.scm",
        family="typescript",
        manifests=MANIFESTS,
        module_of=module_of,
        import_target=import_target, aims_by_folder=True,
        fix_up=fix_up,
        self_names=typescript.SELF_NAMES,
        super_names=("super",),
        class_words=("constructor",),
        root_names=("exports",),
        makes_objects=True,
        passing=typescript.PASSING,
        picking=typescript.PICKING,
        import_binds="none",
        transparent=typescript.TRANSPARENT,
        collections=typescript.COLLECTIONS,
        builtins=typescript.BUILTINS,
        test_files=typescript.TEST_FILES,
    )
}
