"""Cargo: which crate and module a Rust file is, and which file a path of a `use` leads to. Reads manifests only, never sources."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from orbit.graph.languages.language import Layout

OUTSIDE = frozenset({"std", "core", "alloc", "proc_macro", "test"})
DEPENDENCY_TABLES = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")
ROOT_FOLDERS = ("tests", "examples", "benches")  # every file of these is a crate of its own
TARGET_TABLES = ("bin", "test", "example", "bench")


class Manifest(msgspec.Struct, frozen=True):
    """What names depend on in one Cargo.toml."""

    package: str  # its name as code would write it; empty in a virtual manifest
    crate: str  # name of the library crate
    library: str  # path of its root file
    targets: dict[str, str]  # root file -> crate name, for targets with a path of their own
    dependencies: dict[str, dict[str, Any]]  # name in code -> how it is declared
    workspace: dict[str, dict[str, Any]]  # the same of [workspace.dependencies]


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _dependencies(table: Any) -> dict[str, dict[str, Any]]:
    return {_identifier(name): how if isinstance(how, dict) else {} for name, how in _table(table).items()}


@lru_cache(maxsize=4096)
def read_manifest(text: str) -> Manifest | None:
    """The manifest behind a text; None when it is not TOML or says nothing about names."""
    try:
        whole = msgspec.toml.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    package, library = _table(whole.get("package")), _table(whole.get("lib"))
    name = _text(package.get("name"))
    declared: dict[str, dict[str, Any]] = {}
    for tables in (whole, *map(_table, _table(whole.get("target")).values())):
        for key in DEPENDENCY_TABLES:
            declared.update(_dependencies(tables.get(key)))
    targets = {}
    for kind in TARGET_TABLES:
        for target in whole.get(kind, ()) if isinstance(whole.get(kind), list) else ():
            if _text(_table(target).get("path")):
                path = posixpath.normpath(target["path"])
                targets[path] = _identifier(_text(target.get("name")) or name)
    return Manifest(
        package=_identifier(name),
        crate=_identifier(_text(library.get("name")) or name),
        library=posixpath.normpath(_text(library.get("path")) or "src/lib.rs"),
        targets=targets,
        dependencies=declared,
        workspace=_dependencies(_table(whole.get("workspace")).get("dependencies")),
    )


def _manifest(folder: str, layout: Layout) -> Manifest | None:
    text = layout.text(posixpath.join(folder, "Cargo.toml"))
    return read_manifest(text) if text is not None else None


def package_of(path: str, layout: Layout) -> tuple[str, Manifest] | None:
    """Folder and manifest of the package a file belongs to."""
    folder = posixpath.dirname(path)
    while True:
        found = _manifest(folder, layout)
        if found is not None and found.crate:
            return folder, found
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _chain(inside: str) -> list[str]:
    """Modules of a file below its crate's root folder: `a/b.rs`, `a/b/mod.rs` -> a, b."""
    parts = inside.removesuffix(".rs").split("/")
    if parts[-1] == "mod" and len(parts) > 1:
        parts.pop()
    return [_identifier(part) for part in parts]


def module_of(path: str, layout: Layout) -> str:
    """`crate::module` of a file: the crate from the nearest package, modules from the folders below its root file."""
    package = package_of(path, layout)
    if package is None:
        return _module_without_manifest(path)
    folder, manifest = package
    inside = path[len(folder) + 1 :] if folder else path
    if inside in manifest.targets:
        return manifest.targets[inside]
    if inside in (manifest.library, "src/main.rs", "src/lib.rs"):
        return manifest.crate
    if inside == "build.rs":
        return "build"
    root = posixpath.dirname(manifest.library)
    first, _, rest = inside.partition("/")
    if inside.startswith("src/bin/"):
        return "::".join(_own_crate(inside[len("src/bin/") :]))
    if rest and first in ROOT_FOLDERS and not (root == first or root.startswith(first + "/")):
        return "::".join(_own_crate(rest))
    for target, name in manifest.targets.items():
        home = posixpath.dirname(target)
        if home and home not in ("src", root) and inside.startswith(home + "/"):
            return "::".join([name, *_chain(inside[len(home) + 1 :])])
    if root and inside.startswith(root + "/"):
        inside = inside[len(root) + 1 :]
    elif inside.startswith("src/"):
        inside = inside[len("src/") :]
    return "::".join([manifest.crate, *_chain(inside)])


def _own_crate(inside: str) -> list[str]:
    """Modules of a file in a folder whose entries are crates: `x.rs`, `x/main.rs` -> x; `x/y.rs` -> x, y."""
    parts = _chain(inside)
    if parts[-1] == "main" and len(parts) > 1:
        parts.pop()
    return parts


def _module_without_manifest(path: str) -> str:
    head, source, inside = path.rpartition("src/") if path.startswith("src/") or "/src/" in path else ("", "", path)
    crate = _identifier(posixpath.basename(head.rstrip("/"))) or "crate" if source else "crate"
    if inside in ("lib.rs", "main.rs"):
        return crate
    return "::".join([crate, *_chain(inside)])


_crates: WeakKeyDictionary[Layout, dict[str, str]] = WeakKeyDictionary()


def _libraries(layout: Layout) -> dict[str, str]:
    """Package name in code form, and library crate name -> library crate name, of every package in the worktree."""
    try:
        known = _crates.get(layout)
    except TypeError:
        known = None
    if known is None:
        known = {}
        for path in layout.manifests("Cargo.toml"):
            found = read_manifest(layout.text(path) or "")
            if found is not None and found.crate:
                known[found.crate] = found.crate
                known.setdefault(found.package, found.crate)
        with suppress(TypeError):  # a layout that cannot be a key is read again
            _crates[layout] = known
    return known


def _workspace_dependency(folder: str, name: str, layout: Layout) -> tuple[str, dict[str, Any]]:
    while True:
        found = _manifest(folder, layout)
        if found is not None and name in found.workspace:
            return folder, found.workspace[name]
        if not folder:
            return "", {}
        folder = posixpath.dirname(folder)


def _crate(name: str, path: str, layout: Layout) -> str | None:
    """The library crate of the worktree that `name` stands for in the package of `path`; empty when it is declared but lives elsewhere."""
    package = package_of(path, layout)
    if package is None:
        return _libraries(layout).get(name)
    folder, manifest = package
    if name == manifest.crate:
        return name
    how = manifest.dependencies.get(name)
    if how is None:
        return None
    if how.get("workspace"):
        folder, inherited = _workspace_dependency(folder, name, layout)
        how = {**inherited, **how}
    if _text(how.get("path")):
        target = _manifest(posixpath.normpath(posixpath.join(folder, how["path"])).removeprefix("./").strip("."), layout)
        if target is not None and target.crate:
            return target.crate
        return _libraries(layout).get(_identifier(_text(how.get("package"))) or name, "")
    return ""


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """The qualified path a `use` path means; None for crates that are not in the worktree."""
    parts = [part.removeprefix("r#") for part in text.replace(" ", "").split("::") if part]
    if not parts:
        return module
    here = module.split("::")
    head = parts[0]
    absolute = text.startswith("::")
    if head in ("crate", "$crate"):
        return _local(here[:1], parts[1:], path, layout)
    if head in ("self", "super"):
        while parts and parts[0] in ("self", "super"):
            if parts.pop(0) == "super":
                here = here[:-1]
        return _local(here, parts, path, layout) if here else None
    crate = _crate(head, path, layout)
    if crate is not None:
        return "::".join([crate, *parts[1:]]) if crate else None
    if head in OUTSIDE:
        return None
    if not absolute:
        for around in (here, here[:1]):  # the second is how paths of the 2015 edition begin
            if _is_module([*around, head], path, layout):
                return _local(around, parts, path, layout)
    return None


def _local(around: list[str], inside: list[str], path: str, layout: Layout) -> str:
    """A path within a crate. A test or example beside others names their shared modules as its own; those are named after their folder."""
    if inside and len(around) == 1:
        folder, _, name = path.rpartition("/")
        if posixpath.basename(folder) in (*ROOT_FOLDERS, "bin") and name != "mod.rs" and _is_file(posixpath.join(folder, inside[0]), layout):
            return "::".join(inside)
    return "::".join([*around, *inside])


def _is_file(stem: str, layout: Layout) -> bool:
    return layout.has(stem + ".rs") or layout.has(stem + "/mod.rs")


def _is_module(module: list[str], path: str, layout: Layout) -> bool:
    """Is there a file for this module of the crate that `path` belongs to?"""
    folder = posixpath.dirname(path)
    if len(module) == 2 and posixpath.basename(folder) in (*ROOT_FOLDERS, "bin"):
        return _is_file(posixpath.join(folder, module[1]), layout)
    package = package_of(path, layout)
    if package is None:
        return len(module) == 2 and _is_file(posixpath.join(folder, module[1]), layout)
    return _is_file(posixpath.join(package[0], posixpath.dirname(package[1].library), *module[1:]), layout)
