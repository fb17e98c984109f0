"""Turns an operation into a typer command: its params struct is the one definition of arguments, options and help.

A field of a params struct becomes an option of the same name. `Meta(description=...)` is its help; `Meta(extra={"cli": {...}})` says what the
command line needs besides: `argument: True` (positional), `flag: "--name"` (another spelling), `short: "-n"` (besides), `metavar`, `hidden: True`.
"""

from __future__ import annotations

import enum
import inspect
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import typer
from typer.core import TyperCommand

from orbit.cli.output import ProgressBar, emit, fail, remark, terminal
from orbit.errors import IntegrityError, OrbitError
from orbit.operations import Session, find, perform

ROOT = typer.Option(None, "--root", help="Worktree to act on; default: the one that holds the current folder.", show_default=False)
PICTURES = {
    "dot": typer.Option(False, "--dot", help="Draw it, for Graphviz."),
    "html": typer.Option(False, "--html", help="Draw it, as one page that loads nothing."),
}
PLACES = frozenset({"selector", "selectors", "scope", "path", "target"})  # arguments that may be paths
_HERE = re.compile(r"\.\.?(?:/|$)")
QUIET = typer.Option(False, "--quiet", "-q", help="Do not print the line about the recorded run.")
JSON = typer.Option(False, "--json", help="Answer with one JSON document.")


# What the command line needs to know of some operations besides their params.
EXIT_CODES: dict[str, Callable[[Any], int]] = {  # where it is not always 0
    "adr.lint": lambda answer: IntegrityError.exit_code if answer.errors else 0,
    "adr.render": lambda answer: IntegrityError.exit_code if answer.differs else 0,
    "graph.impact": lambda answer: IntegrityError.exit_code if answer.failed else 0,
    "run.verify": lambda answer: 0 if answer.ok else IntegrityError.exit_code,
    "run.exec": lambda answer: int(answer.exit_code),
}
SLOW = ("graph.sync", "graph.history")  # these show how far they have come
DRAWN = ("graph.impact", "graph.overview", "graph.picture")  # these can be asked for as a picture
LIVE = ("run.exec",)  # its words are another command, whose output is ours; the answer is a remark beside it


def add_command(app: typer.Typer, operation_name: str) -> None:
    """Register operation `operation_name` on `app`."""
    operation, is_live, exit_code = find(operation_name), operation_name in LIVE, EXIT_CODES.get(operation_name)
    progress: Callable[[], AbstractContextManager[Any]] = ProgressBar if operation_name in SLOW else nullcontext
    fields = [field for field in msgspec.structs.fields(operation.params) if not _cli(field.type).get("hidden")]

    def command(**given: Any) -> None:
        as_json, root, is_quiet = given.pop("json"), given.pop("root"), given.pop("quiet", False)
        form = next((form for form in PICTURES if given.pop(form, False)), None)
        asked = {key: getattr(value, "value", value) for key, value in given.items() if value is not None and value != []}
        try:
            session = Session(root)
            if root is None:
                _start_here(asked, session.workspace.root)
            session.terminal = terminal(as_json=as_json) if is_live else None
            with progress() as session.progress:
                try:
                    if form is not None:
                        asked = {"of": operation_name.rpartition(".")[2], **asked}
                    answer = perform(session, operation_name if form is None else "graph.picture", asked)
                finally:
                    session.close()
        except OrbitError as error:
            fail(error, as_json=as_json)
        if as_json or not is_live:
            emit(answer, as_json=as_json, form=None if as_json else form)
        elif not is_quiet:
            remark(answer)
        if form is None and exit_code is not None and (code := exit_code(answer)):
            raise SystemExit(code)

    flags = {"json": JSON} | (PICTURES if operation_name in DRAWN else {})
    parameters = [_parameter(field) for field in fields]
    parameters += [_keyword("quiet", QUIET, bool)] if is_live else []
    parameters += [_keyword("root", ROOT, Path | None), *(_keyword(name, option, bool) for name, option in flags.items())]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    its_class = documented({field.name: _description(field.type) for field in fields})
    settings: dict[str, Any] = {"no_args_is_help": True, "context_settings": {"allow_interspersed_args": False}} if is_live else {}
    examples = "".join(f"\n\n    {example}" for example in operation.examples)
    text = operation.summary + (f"\n\n\b\nExamples:{examples}" if examples else "")
    app.command(operation_name.rpartition(".")[2], cls=its_class, help=text, **settings)(command)


def _start_here(asked: dict[str, Any], root: Path) -> None:
    """Paths typed as `./a.py` or `..` start at the current folder, as in any shell; all others at the root of the worktree."""
    here = Path.cwd()

    def place(text: str, name: str) -> str:
        is_here = _HERE.match(text) or name == "path" and not os.path.lexists(root / text) and os.path.lexists(here / text)
        return os.path.relpath(here / text, root) if is_here else text

    for name in PLACES & asked.keys():
        given = asked[name]
        asked[name] = place(given, name) if isinstance(given, str) else [place(one, name) for one in given] if name == "selectors" else given


def documented(descriptions: dict[str, str]) -> type[TyperCommand]:
    """A command whose arguments keep their help; newer versions of click drop what typer says about them."""

    class Documented(TyperCommand):
        def __init__(self, *positional: Any, **named: Any) -> None:
            super().__init__(*positional, **named)
            for param in self.params:
                if param.name in descriptions:
                    vars(param)["help"] = descriptions[param.name]

        def format_arguments(self, *_: Any) -> None:
            """Typer lists the arguments among the options."""

    return Documented


def _parameter(field: msgspec.structs.FieldInfo) -> inspect.Parameter:
    base, description, cli = _plain(field.type), _description(field.type), _cli(field.type)
    required = field.required
    annotation = _annotation(base, required)
    if cli.get("argument"):
        default = typer.Argument(... if required else None, metavar=cli.get("metavar"), help=description, show_default=False)
    else:
        flag = cli.get("flag", "--" + field.name.replace("_", "-"))
        shown = None if required or field.default in (None, False, msgspec.NODEFAULT, [], ()) else str(field.default)
        flags = [flag, cli["short"]] if "short" in cli else [flag]
        default = typer.Option(... if required else None, *flags, help=description, show_default=shown or False)
    return _keyword(field.name, default, annotation)


def _keyword(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(base: Any, required: bool) -> Any:
    """The type typer should parse."""
    if get_origin(base) in (list, tuple):
        return list[str]
    if get_origin(base) is Literal:
        choices = enum.Enum("Choice", {str(value): str(value) for value in get_args(base)}, type=str)  # type: ignore[misc]
        return choices if required else choices | None
    plain = base if base in (bool, int, float) else str
    return plain if required else plain | None


def _plain(annotated: Any) -> Any:
    """The bare type under Annotated and Optional."""
    if get_origin(annotated) is Annotated:
        return _plain(get_args(annotated)[0])
    parts = [part for part in get_args(annotated) if part is not type(None)]
    if type(None) in get_args(annotated) and len(parts) == 1:
        return _plain(parts[0])
    return annotated


def _metas(annotated: Any) -> list[msgspec.Meta]:
    found = [meta for meta in getattr(annotated, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]
    for part in get_args(annotated):
        found += _metas(part)
    return found


def _description(annotated: Any) -> str:
    return next((meta.description for meta in _metas(annotated) if meta.description), "")


def _cli(annotated: Any) -> dict[str, Any]:
    return next((meta.extra["cli"] for meta in _metas(annotated) if meta.extra and "cli" in meta.extra), {})
