"""Writes a generated source file down in each language: its path and its text."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import NamedTuple

from synthetic.parts import Function, Import, Source, Statement

GO_MODULE = "example.org/app"


class Words(NamedTuple):
    """How a language spells statements."""

    top: str  # folder of all its sources
    suffix: str
    make: str  # an instance of {0}
    let: str  # bind {0} to {1}
    this: str
    above: str
    module: str  # {1}() of module {0}
    call: str = "{0}.{1}()"
    end: str = ";"


WORDS = {
    "python": Words("py/src/app", ".py", "{0}()", "{0} = {1}", "self", "super()", "{0}.{1}()", end=""),
    "typescript": Words("web", ".ts", "new {0}()", "const {0} = {1}", "this", "super", "{0}.{1}()"),
    "javascript": Words("web", ".js", "new {0}()", "const {0} = {1}", "this", "super", "{0}.{1}()"),
    "go": Words("go", ".go", "&{0}{{}}", "{0} := {1}", "own", "own", "{0}.{1}()", end=""),
    "rust": Words("rust/src", ".rs", "{0}::new()", "let {0} = {1}", "self", "self", "{0}::{1}()"),
    "java": Words("jvm/org/acme", ".java", "new {0}()", "var {0} = {1}", "this", "super", "{0}.{1}()"),
    "kotlin": Words("jvm/org/acme", ".kt", "{0}()", "val {0} = {1}", "this", "super", "{0}.{1}()", end=""),
    "csharp": Words("cs", ".cs", "new {0}()", "var {0} = {1}", "this", "base", "{0}.{1}()"),
    "c": Words("c", ".c", "make_{0}()", "void *{0} = {1}", "own", "own", "{0}_{1}()", "{1}({0})"),
    "ruby": Words("ruby/lib", ".rb", "{0}.new", "{0} = {1}", "self", "self", "{0}.{1}", end=""),
}


def path_of(language: str, folder: str, stem: str) -> str:
    words = WORDS[language]
    if stem == "__init__":
        stem = {"python": "__init__", "typescript": "index", "javascript": "index", "rust": "mod" if folder else "lib"}.get(language, "main")
    suffix = ".h" if language == "c" and stem in ("gamma", "store") else words.suffix
    return posixpath.join(words.top, folder, stem + suffix)


def write(source: Source) -> str:
    return WRITERS[source.language](source)


def body(source: Source, function: Function, inside: str) -> list[str]:
    """The statements of a function; `inside` is the class around it."""
    words, lines = WORDS[source.language], []
    for number, statement in enumerate(function.body):
        lines += [line + words.end for line in _spell(words, statement, f"v{number}", inside, function)]
    if function.returns:
        lines.append(f"return {words.make.format(function.returns)}{words.end}")
    return lines


def _spell(words: Words, statement: Statement, local: str, inside: str, function: Function) -> list[str]:
    form, name, member = statement.form, statement.name, statement.member
    if form == "made":
        return [words.call.format(words.make.format(name), member)]
    if form in ("local", "result"):
        return [words.let.format(local, words.make.format(name) if form == "local" else f"{name}()"), words.call.format(local, member)]
    if form == "module":
        return [words.module.format(name, member)]
    if form == "typed":
        return [words.call.format("given", member)] if function.takes else []
    if form in ("own", "above", "held"):
        if not inside:
            return []
        receiver = f"{words.this}.{member}" if form == "held" else words.this if form == "own" else words.above
        return [words.call.format(receiver, "run" if form == "held" else member)]
    if form == "text":
        return [words.let.format(local, f'"{name} {member} {name}"')]
    return [f"{name}()"]


def _block(lines: list[str], by: str = "    ") -> list[str]:
    return [by + line for line in lines]


def _python(source: Source) -> str:
    lines = [f"# {source.remark}"] if source.remark else []
    lines += [_python_import(found, source) for found in source.imports]
    if source.stem == "__init__" and source.functions:
        lines.append(f"__all__ = [{', '.join(repr(f.name) for f in source.functions)}]")
    for found in source.classes:
        lines += ["", f"class {found.name}({found.above}):" if found.above else f"class {found.name}:"]
        lines += [f"    {name}: {kind}" for name, kind in found.fields]
        for method in found.methods:
            given = f", given: {method.takes}" if method.takes else ""
            lines.append(f"    def {method.name}(self{given}){f' -> {method.returns}' if method.returns else ''}:")
            lines += _block(body(source, method, found.name) or ["pass"], "        ")
    for function in source.functions:
        given = f"given: {function.takes}" if function.takes else ""
        lines += ["", f"def {function.name}({given}){f' -> {function.returns}' if function.returns else ''}:", *_block(body(source, function, "") or ["pass"])]
    return "\n".join(lines) + "\n"


def _python_import(found: Import, source: Source) -> str:
    dotted = ".".join(part for part in (*found.folder.split("/"), "" if found.stem == "__init__" else found.stem) if part)
    module = "app." + dotted
    if found.style == 1:
        up = "." * (1 + len([part for part in source.folder.split("/") if part]))
        module = up + dotted
    if found.star:
        return f"from {module} import *"
    if found.name:
        return f"from {module} import {found.name}{f' as {found.alias}' if found.alias else ''}"
    if found.style == 1:
        return f"from {module.rpartition('.')[0] or '.'} import {found.stem if found.stem != '__init__' else '*'}"
    return f"import {module}{f' as {found.alias}' if found.alias else ''}"


def _script(source: Source) -> str:
    typed = source.language == "typescript"
    lines = [f"// {source.remark}"] if source.remark else []
    lines += [_script_import(found, source) for found in source.imports]
    for found in source.classes:
        lines += [f"export class {found.name}{f' extends {found.above}' if found.above else ''} {{"]
        lines += [f"  {name}: {kind};" if typed else f"  {name} = new {kind}();" for name, kind in found.fields]
        for method in found.methods:
            lines += [f"  {method.name}{_script_head(method, typed)} {{", *_block(body(source, method, found.name)), "  }"]
        lines += ["}"]
    for function in source.functions:
        lines += [f"export function {function.name}{_script_head(function, typed)} {{", *_block(body(source, function, ""), "  "), "}"]
    if source.classes and source.stem == "store":
        lines.append(f"export default {source.classes[0].name};")
    return "\n".join(lines) + "\n"


def _script_head(function: Function, typed: bool) -> str:
    given = f"given: {function.takes}" if function.takes and typed else "given" if function.takes else ""
    return f"({given})" + (f": {function.returns}" if typed and function.returns else "")


def _script_import(found: Import, source: Source) -> str:
    stem = "" if found.stem == "__init__" else found.stem
    target = posixpath.join(found.folder, stem)
    text = posixpath.relpath(target or ".", source.folder or ".")
    text = text if text.startswith(".") else f"./{text}"
    if found.style == 1:
        text = f"@app/{target}"
    elif found.style == 2 and target.startswith("core"):
        text = f"@acme/{target}"
    if found.star:
        return f'export * from "{text}";' if found.passes_on else f'import * as {found.stem.strip("_")} from "{text}";'
    if found.name:
        return f'{"export" if found.passes_on else "import"} {{ {found.name}{f" as {found.alias}" if found.alias else ""} }} from "{text}";'
    return f'import {found.alias or found.stem.strip("_").capitalize()} from "{text}";'


def _go(source: Source) -> str:
    package = posixpath.basename(source.folder) or "main"
    lines = [f"// {source.remark}"] if source.remark else []
    lines.append(f"package {package}")
    for found in source.imports:
        lines.append(f'import {found.alias or ("." if found.star else "")} "{GO_MODULE}/{found.folder}"'.replace("  ", " "))
    for found in source.classes:
        lines += [f"type {found.name} struct {{", *([f"\t{found.above}"] if found.above else []), *(f"\t{name} *{kind}" for name, kind in found.fields), "}"]
        for method in found.methods:
            lines += [f"func (own *{found.name}) {method.name}{_go_head(method)} {{", *_block(body(source, method, found.name), "\t"), "}"]
    for function in source.functions:
        lines += [f"func {function.name}{_go_head(function)} {{", *_block(body(source, function, ""), "\t"), "}"]
    return "\n".join(lines) + "\n"


def _go_head(function: Function) -> str:
    return f"({f'given *{function.takes}' if function.takes else ''})" + (f" *{function.returns}" if function.returns else "")


def _rust(source: Source) -> str:
    lines = [f"// {source.remark}"] if source.remark else []
    for found in source.imports:
        path = "::".join(part for part in ("crate", *found.folder.split("/"), "" if found.stem == "__init__" else found.stem) if part)
        if found.style == 1:
            path = path.replace("crate", "super", 1)
        elif found.style == 2:
            path = path.replace("crate", "acme_extra", 1)
        tail = "::*" if found.star else f"::{found.name}" if found.name else ""
        lines.append(f"{'pub ' if found.passes_on else ''}use {path}{tail}{f' as {found.alias}' if found.alias and not found.star else ''};")
    for found in source.classes:
        lines += [f"pub struct {found.name} {{", *(f"    {name}: {kind}," for name, kind in found.fields), "}", f"impl {found.name} {{"]
        for method in found.methods:
            given = f", given: &{method.takes}" if method.takes else ""
            lines.append(f"    pub fn {method.name}(&self{given}){f' -> {method.returns}' if method.returns else ''} {{")
            lines += [*_block(body(source, method, found.name), "        "), "    }"]
        lines += ["}", *([f"impl {found.above} for {found.name} {{}}"] if found.above else [])]
    for function in source.functions:
        given = f"given: &{function.takes}" if function.takes else ""
        lines += [f"pub fn {function.name}({given}){f' -> {function.returns}' if function.returns else ''} {{", *_block(body(source, function, "")), "}"]
    return "\n".join(lines) + "\n"


def _braces(source: Source) -> str:
    """Java, Kotlin and C#: functions live in a type named like the file."""
    kind, words = source.language, WORDS[source.language]
    place = ".".join(part for part in ("org.acme", *source.folder.split("/")) if part)
    lines = [f"// {source.remark}"] if source.remark else []
    lines.append({"java": f"package {place};", "kotlin": f"package {place}", "csharp": f"namespace {place};"}[kind])
    for found in source.imports:
        target = ".".join(part for part in ("org.acme", *found.folder.split("/")) if part)
        word = "using" if kind == "csharp" else "import"
        tail = "" if kind == "csharp" else ".*" if found.star or not found.name else f".{found.name}"
        alias = f" as {found.alias}" if found.alias and kind == "kotlin" and tail != ".*" else ""
        lines.append(f"{word} {target}{tail}{alias}{words.end}")
    types = [(found.name, found.above, found.fields, found.methods) for found in source.classes]
    types.append((source.stem.strip("_").capitalize(), "", [], source.functions))
    for name, above, fields, methods in types:
        relation = {"java": f" extends {above}", "kotlin": f" : {above}()", "csharp": f" : {above}"}[kind] if above else ""
        lines.append(f"{'open class' if kind == 'kotlin' else 'public class'} {name}{relation} {{")
        for label, held in fields:
            lines.append(f"    val {label}: {held} = {held}()" if kind == "kotlin" else f"    {held} {label};")
        for method in methods:
            given = (f"given: {method.takes}" if kind == "kotlin" else f"{method.takes} given") if method.takes else ""
            head = f"public {method.returns or 'void'} {method.name}({given})"
            if kind == "kotlin":
                head = f"fun {method.name}({given}){f': {method.returns}' if method.returns else ''}"
            lines += [f"    {head} {{", *_block(body(source, method, name), "        "), "    }"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _c(source: Source) -> str:
    lines = [f"/* {source.remark} */"] if source.remark else []
    for found in source.imports:
        target = posixpath.relpath(posixpath.join(found.folder, found.stem.strip("_")), source.folder or ".")
        lines.append(f'#include "{target}{".c" if found.star else ".h"}"')
    for found in source.classes:
        lines += [f"struct {found.name} {{", *(f"    struct {held} *{name};" for name, held in found.fields), "};"]
        lines += [f"static void {found.name}_{method.name}(void) {{ {' '.join(body(source, method, found.name))} }}" for method in found.methods]
    for function in source.functions:
        given = f"struct {function.takes} *given" if function.takes else "void"
        lines += [f"{'static ' if function.takes else ''}int {function.name}({given}) {{", *_block(body(source, function, "")), "}"]
    return "\n".join(lines) + "\n"


def _ruby(source: Source) -> str:
    lines = [f"# {source.remark}"] if source.remark else []
    for found in source.imports:
        text = posixpath.relpath(posixpath.join(found.folder, found.stem), source.folder or ".")
        lines.append(f'require_relative "{text}"' if found.style % 2 else f'require "{posixpath.join(found.folder, found.stem)}"')
    module = (posixpath.basename(source.folder) or "app").capitalize()
    lines.append(f"module {module}")
    for found in source.classes:
        lines.append(f"  class {found.name}{f' < {found.above}' if found.above else ''}")
        for method in found.methods:
            lines += [f"    def {method.name}", *_block(body(source, method, found.name), "      "), "    end"]
        lines.append("  end")
    for function in source.functions:
        lines += [f"  def self.{function.name}", *_block(body(source, function, ""), "    "), "  end"]
    return "\n".join([*lines, "end"]) + "\n"


WRITERS: dict[str, Callable[[Source], str]] = {
    "python": _python, "typescript": _script, "javascript": _script, "go": _go, "rust": _rust, "java": _braces, "kotlin": _braces, "csharp": _braces,
    "c": _c, "ruby": _ruby,
}  # fmt: skip
