"""Where an import of TypeScript or JavaScript leads: relative paths, tsconfig paths, workspace packages. Modules are paths without extension."""

from __future__ import annotations

import json
import posixpath
import re
from functools import lru_cache
from typing import Any

from orbit.graph.languages.language import Layout

# In the order the compiler prefers them.
EXTENSIONS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs")
# An import that names the output means the source it is made from.
SOURCES = {
    ".js": (".ts", ".tsx", ".d.ts", ".js", ".jsx"),
    ".jsx": (".tsx", ".jsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts", ".mjs"),
    ".cjs": (".cts", ".d.cts", ".cjs"),
}
CONFIGS = ("tsconfig.json", "jsconfig.json")
MANIFESTS = ("package.json", *CONFIGS)
# Conditions of `exports`: what leads to sources before what leads to built files.
CONDITIONS = ("source", "development", "types", "import", "module", "node", "browser", "require", "default")
ENTRY_FIELDS = ("source", "types", "typings", "module", "main")
# Folders of built files, which a worktree seldom has; their sources stand in `src` or beside them.
BUILT = re.compile(r"^(?:dist|lib|build|out|esm|cjs|es|umd|types|typings)(?:/(?:esm|cjs|es|umd|types|src|module|commonjs))?/")
DEPTH_LIMIT = 8  # of `extends` and of nested conditions


def module_of(path: str, layout: Layout) -> str:
    """The path from the root without its extension; `index` stays part of the name."""
    return _without_extension(path)


def _without_extension(path: str) -> str:
    for extension in (".d.ts", ".d.mts", ".d.cts"):
        if path.endswith(extension):
            return path[: -len(extension)]
    stem, dot, suffix = path.rpartition(".")
    return stem if dot and "/" not in suffix and stem and not stem.endswith("/") else path


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """The module an import leads to; None when no file of the worktree can be meant."""
    text = text.partition("?")[0]
    if not text or "\0" in text:
        return None
    folder = posixpath.dirname(path)
    if text.startswith(("./", "../")) or text in (".", ".."):
        wanted = posixpath.normpath(posixpath.join(folder, text))
        if wanted == ".." or wanted.startswith("../"):
            return None
        found = _file(wanted if wanted != "." else "", layout)
        return _without_extension(found) if found else _missing(wanted)
    if text.startswith("/") or ":" in text.split("/", 1)[0]:  # absolute, URL, `node:fs`
        return None
    workspace = _workspace(layout)
    found = workspace.by_config(text, folder) or workspace.by_package(text, folder)
    return _without_extension(found) if found else None


def _missing(wanted: str) -> str | None:
    """A relative import without a file: the module it would be, unless it names something that is no script."""
    suffix = posixpath.splitext(wanted)[1]
    if suffix in SOURCES or suffix in EXTENSIONS:
        return _without_extension(wanted)
    return wanted if not suffix else None


def _file(wanted: str, layout: Layout) -> str | None:
    """The file a path without, with, or with the wrong extension means; a folder means its index."""
    if wanted:
        stem, suffix = posixpath.splitext(wanted)
        for extension in SOURCES.get(suffix, ()):
            if layout.has(stem + extension):
                return stem + extension
        if suffix in EXTENSIONS and layout.has(wanted):
            return wanted
        for extension in EXTENSIONS:
            if layout.has(wanted + extension):
                return wanted + extension
    inside = f"{wanted}/" if wanted else ""
    if layout.text(f"{inside}package.json") is not None:
        manifest = _object(layout.text(f"{inside}package.json") or "")
        for field in ENTRY_FIELDS:
            entry = manifest.get(field)
            if isinstance(entry, str):
                found = _plain_file(posixpath.normpath(inside + entry), layout)
                if found:
                    return found
    for extension in EXTENSIONS:
        if layout.has(f"{inside}index{extension}"):
            return f"{inside}index{extension}"
    return None


def _plain_file(wanted: str, layout: Layout) -> str | None:
    """As _file, without looking into manifests again."""
    stem, suffix = posixpath.splitext(wanted)
    names = [stem + extension for extension in SOURCES.get(suffix, ())]
    if suffix in EXTENSIONS:
        names.append(wanted)
    names += [wanted + extension for extension in EXTENSIONS] + [f"{wanted}/index{extension}" for extension in EXTENSIONS]
    return next((name for name in names if layout.has(name)), None)


class _Workspace:
    """What the manifests of a worktree say, read once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._configs: dict[str, tuple[str | None, list[tuple[str, list[str]]]]] = {}
        self._nearest: dict[tuple[str, tuple[str, ...]], str | None] = {}
        self._packages: dict[str, list[str]] = {}
        for manifest in layout.manifests("package.json"):
            name = _object(layout.text(manifest) or "").get("name")
            if isinstance(name, str) and name:
                self._packages.setdefault(name, []).append(posixpath.dirname(manifest))

    def _up(self, folder: str, names: tuple[str, ...]) -> str | None:
        """The nearest manifest of one of these names, in this folder or above."""
        key = (folder, names)
        if key not in self._nearest:
            here = next((at for at in (posixpath.join(folder, name) for name in names) if self._layout.text(at) is not None), None)
            self._nearest[key] = here or (self._up(posixpath.dirname(folder), names) if folder else None)
        return self._nearest[key]

    def by_config(self, text: str, folder: str) -> str | None:
        """`paths` and `baseUrl` of the nearest tsconfig or jsconfig."""
        config = self._up(folder, CONFIGS)
        if config is None:
            return None
        root, paths = self._config(config, 0)
        best: tuple[int, str, list[str]] | None = None
        for pattern, targets in paths:
            head, star, tail = pattern.partition("*")
            if not star:
                if text == pattern:
                    best = (1 << 30, "", targets)
            elif text.startswith(head) and text.endswith(tail) and len(text) >= len(head) + len(tail) and (best is None or len(head) > best[0]):
                best = (len(head), text[len(head) : len(text) - len(tail)], targets)
        for target in best[2] if best else ():
            found = _file(_inside(target.replace("*", best[1] if best else "", 1)), self._layout)
            if found:
                return found
        return _file(_inside(posixpath.join(root, text)), self._layout) if root is not None else None

    def _config(self, path: str, depth: int) -> tuple[str | None, list[tuple[str, list[str]]]]:
        """(baseUrl, paths) of a config and what it extends, as paths from the root of the worktree."""
        if path in self._configs:
            return self._configs[path]
        self._configs[path] = (None, [])
        written = _object(self._layout.text(path) or "")
        folder = posixpath.dirname(path)
        root: str | None = None
        paths: list[tuple[str, list[str]]] = []
        if depth < DEPTH_LIMIT:
            extended = written.get("extends")
            for text in extended if isinstance(extended, list) else [extended]:
                above = self._extended(text, folder) if isinstance(text, str) else None
                if above:
                    more_root, more_paths = self._config(above, depth + 1)
                    root, paths = more_root if more_root is not None else root, more_paths or paths
        options = written.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        if isinstance(options.get("baseUrl"), str):
            root = posixpath.normpath(posixpath.join(folder, options["baseUrl"]))
        if isinstance(options.get("paths"), dict):
            start = root if root is not None else folder
            paths = [
                (pattern, [posixpath.join(start, target) for target in targets if isinstance(target, str)])
                for pattern, targets in options["paths"].items()
                if isinstance(targets, list)
            ]
        if not paths and root is None and depth < DEPTH_LIMIT:  # a solution file: its projects say it
            references = written.get("references")
            for reference in references if isinstance(references, list) else ():
                text = reference.get("path") if isinstance(reference, dict) else None
                above = self._extended(text, folder) if isinstance(text, str) else None
                if above:
                    root, paths = self._config(above, depth + 1)
                    if paths or root is not None:
                        break
        self._configs[path] = (root, paths)
        return root, paths

    def _extended(self, text: str, folder: str) -> str | None:
        if text.startswith("."):
            at = posixpath.normpath(posixpath.join(folder, text))
        else:
            name, rest = _package_name(text)
            at = posixpath.join(self._packages[name][0], rest) if name in self._packages else ""
        for candidate in (at, f"{at}.json", posixpath.join(at, "tsconfig.json")):
            if at and self._layout.text(candidate) is not None:
                return candidate
        return None

    def by_package(self, text: str, folder: str) -> str | None:
        """A package of the worktree by its name, the own one included, or an entry of the own `imports`."""
        if text.startswith("#"):
            manifest = self._up(folder, ("package.json",))
            found = _entry(_object(self._layout.text(manifest) or "").get("imports"), text) if manifest else []
            return next((at for at in (self._built(posixpath.dirname(manifest or ""), target) for target in found) if at), None)
        name, rest = _package_name(text)
        roots = self._packages.get(name)
        if not roots:
            return None
        root = max(roots, key=lambda at: len(posixpath.commonprefix([at, folder])))
        manifest_text = self._layout.text(posixpath.join(root, "package.json")) or ""
        manifest_object = _object(manifest_text)
        exports = manifest_object.get("exports")
        if isinstance(exports, (str, list)) or (isinstance(exports, dict) and not any(key.startswith(".") for key in exports)):
            exports = {".": exports}
        targets = _entry(exports, f"./{rest}" if rest else ".")
        if not rest:
            targets += [manifest_object[field] for field in ENTRY_FIELDS if isinstance(manifest_object.get(field), str)]
            targets += ["src/index", "index", "lib/index", "src/main"]
        else:
            targets += [rest, f"src/{rest}", f"lib/{rest}"]
        return next((at for at in (self._built(root, target) for target in targets) if at), None)

    def _built(self, root: str, target: str) -> str | None:
        """The file a manifest names, or the source of the built file it names."""
        target = posixpath.normpath(target)
        stem = BUILT.sub("", target)
        for candidate in dict.fromkeys((target, f"src/{stem}", stem)):
            if not candidate.startswith(".."):
                found = _plain_file(_inside(posixpath.join(root, candidate)), self._layout)
                if found:
                    return found
        return None


def _inside(path: str) -> str:
    path = posixpath.normpath(path)
    return "" if path == "." else path


def _package_name(text: str) -> tuple[str, str]:
    """`@scope/name/sub/path` -> (`@scope/name`, `sub/path`)."""
    parts = text.split("/")
    size = 2 if text.startswith("@") else 1
    return "/".join(parts[:size]), "/".join(parts[size:])


def _entry(table: Any, wanted: str) -> list[str]:
    """Targets of an entry of `exports` or `imports`: an exact key, else the pattern with the longest head."""
    if not isinstance(table, dict):
        return []
    if wanted in table:
        return _targets(table[wanted], 0)
    best, filling, tail_kept = "", "", ""
    for key in table:
        head, star, tail = key.partition("*")
        if not star and key.endswith("/"):
            head, star, tail = key, "*", ""
        if star and wanted.startswith(head) and wanted.endswith(tail) and len(wanted) > len(head) + len(tail) and len(key) > len(best):
            best, filling, tail_kept = key, wanted[len(head) : len(wanted) - len(tail)], head
    if not best:
        return []
    found = _targets(table[best], 0)
    return [target.replace("*", filling) if "*" in target else posixpath.join(target, filling) for target in found] if tail_kept or filling else found


def _targets(value: Any, depth: int) -> list[str]:
    """All targets of a conditional entry, the ones nearer to sources first."""
    if isinstance(value, str):
        return [value]
    if depth > DEPTH_LIMIT:
        return []
    if isinstance(value, list):
        return [target for item in value for target in _targets(item, depth + 1)]
    if isinstance(value, dict):
        known = [key for key in CONDITIONS if key in value]
        return [target for key in [*known, *(key for key in value if key not in known)] for target in _targets(value[key], depth + 1)]
    return []


COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
TRAILING_COMMAS = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


@lru_cache(maxsize=1024)
def _object(text: str) -> dict[str, Any]:
    """A JSON object that may have comments and trailing commas; empty when it cannot be read."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            plain = COMMENTS.sub(lambda match: match[1] or " ", text.lstrip("\ufeff"))
            found = json.loads(TRAILING_COMMAS.sub(lambda match: match[1] or "", plain))
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}


_latest: tuple[Layout, _Workspace] | None = None


def _workspace(layout: Layout) -> _Workspace:
    """The manifests of the layout asked about last are kept: imports of one worktree come in a row."""
    global _latest
    latest = _latest
    if latest is None or latest[0] is not layout:
        latest = _latest = (layout, _Workspace(layout))
    return latest[1]
