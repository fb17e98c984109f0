"""What the import contract cannot see: imports in Cython, SQL text, printing and the environment outside the rooms they belong to.

Prints one line for each violation and leaves with 1 if there is any. The rules are the tables below; paths are relative to `src/orbit`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PACKAGE = HERE / "src" / "orbit"
NATIVE = HERE / "orbit_native"

# What a .pyx or .pxd may import, by first name; the file system only where hashing is.
NATIVE_IMPORTS = {"__future__", "cpython", "cython", "libc", "numpy", "orbit_native", "typing"}
FILE_IMPORTS = {"os", "posix", "stat", "sys", "xxhash"}
FILE_MODULES = {"hashing.pyx"}

SQL_ROOMS = ("graph/store/", "graph/query/", "adr/index", "audit.py")
INTERNALS = (("adr/", "orbit.runs."), ("runs/", "orbit.adr."))  # neighbours meet at the package, not inside it
NATIVE_ROOMS = ("graph/facts.py", "graph/index/", "graph/query/", "graph/store/writer.py")
PRINTING = ("cli/output.py", "cli/app.py")
EXITING = ("cli/",)
ENVIRONMENT = ("config.py",)
BANNED_NAMES = {"utils", "util", "helpers", "common", "misc", "base", "manager", "handler", "processor", "data", "info"}

SQL = re.compile(
    r"\s*(SELECT\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|REPLACE\s+INTO\s|PRAGMA\s|ATTACH\s|WITH\s+(RECURSIVE\s+)?\w+.*\sAS\s"
    r"|(CREATE|DROP|ALTER)\s+(TEMP\s+|UNIQUE\s+|VIRTUAL\s+)?(TABLE|INDEX|VIEW|TRIGGER)\s)"
)
CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\b|c?import\s+([\w., ]+?)(?:\s+as\s+\w+)?\s*(?:#.*)?$)")
OPENS_FILES = re.compile(r"(?<![.\w`])(open|fopen|openat)\s*\(")


def main() -> int:
    found = [*native_violations(), *python_violations()]
    for violation in found:
        print(violation)
    print(f"rooms: {len(found)} violations")
    return 1 if found else 0


def native_violations() -> Iterator[str]:
    for path in sorted([*NATIVE.glob("*.pyx"), *NATIVE.glob("*.pxd")]):
        allowed = NATIVE_IMPORTS | (FILE_IMPORTS if path.name in FILE_MODULES else set())
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            place = f"orbit_native/{path.name}:{number}"
            if match := CYTHON_IMPORT.match(line):
                names = [match[1]] if match[1] else [part.split()[0] for part in match[2].split(",")]
                for name in names:
                    if name.lstrip(".").split(".")[0] not in allowed and not name.startswith("."):
                        yield f"{place}: the native core may not import {name}"
            elif path.name not in FILE_MODULES and OPENS_FILES.search(line.partition("#")[0]):
                yield f"{place}: files are opened in {', '.join(sorted(FILE_MODULES))} only"


def python_violations() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE).as_posix()
        if path.stem in BANNED_NAMES:
            yield f"src/orbit/{inside}: {path.stem!r} names no concept"
        for node in ast.walk(_without_docstrings(ast.parse(path.read_text(encoding="utf-8"), str(path)))):
            for rule in _broken(node, inside):
                yield f"src/orbit/{inside}:{getattr(node, 'lineno', 0)}: {rule}"


def _broken(node: ast.AST, inside: str) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value) and not inside.startswith(SQL_ROOMS):
        yield f"SQL text belongs in {', '.join(SQL_ROOMS)}"
    if any(name.split(".")[0] == "orbit_native" for name in _imported(node)) and not inside.startswith(NATIVE_ROOMS):
        yield f"orbit_native is imported in {', '.join(NATIVE_ROOMS)} only"
    for room, internals in INTERNALS:
        if inside.startswith(room) and any(name.startswith(internals) for name in _imported(node)):
            yield f"{room} may not import the internals of {internals.rstrip('.')}"
    name = _dotted(node.func) if isinstance(node, ast.Call) else _dotted(node)
    is_call = isinstance(node, ast.Call)
    if (is_call and name in {"print", "typer.echo", "click.echo", "typer.secho"} or name in {"sys.stdout", "sys.stderr"}) and not inside.startswith(PRINTING):
        yield f"printing belongs in {', '.join(PRINTING)}"
    if (is_call and name in {"sys.exit", "os._exit", "exit"} or isinstance(node, ast.Raise) and _raises_exit(node)) and not inside.startswith(EXITING):
        yield f"exit codes belong in {', '.join(EXITING)}"
    if not is_call and name in {"os.environ", "os.environb", "os.getenv"} and not inside.startswith(ENVIRONMENT):
        yield f"the environment is read in {', '.join(ENVIRONMENT)} only"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module]
    return []


def _raises_exit(node: ast.Raise) -> bool:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "SystemExit"


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


if __name__ == "__main__":
    sys.exit(main())
