"""The registry: which languages there are, and which of them claims a file. A language module is imported when first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from orbit.graph.languages.language import Language, Layout

__all__ = ["NAMES", "Language", "Layout", "find", "language", "manifest_names"]

# Suffix or file name -> language. Kept here, not asked of the modules, so that a scan imports none of them.
SUFFIXES = {
    ".rs": "rust", ".py": "python", ".pyi": "python",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".go": "go", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".cs": "csharp",
    ".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby", ".c": "c", ".h": "c",
    ".md": "markdown", ".markdown": "markdown",
    ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json", ".env": "env", ".ini": "ini",
    ".csv": "csv", ".tsv": "tsv",
}  # fmt: skip
FILENAMES = {"Rakefile": "ruby", "Gemfile": "ruby", ".env": "env"}
# Language -> module of this package that holds its table, where several share one.
MODULES = {"tsx": "typescript", "yaml": "config", "toml": "config", "json": "config", "env": "config", "ini": "config", "csv": "tables", "tsv": "tables"}
NAMES = tuple(dict.fromkeys([*SUFFIXES.values(), *FILENAMES.values()]))
# File names whose text decides module names of other files.
MANIFESTS = ("Cargo.toml", "go.mod", "go.work", "package.json", "tsconfig.json", "jsconfig.json", "pyproject.toml", "setup.cfg", "setup.py")
# And those that decide them by being there.
PACKAGE_FILES = ("__init__.py", "__init__.pyi")


def find(path: str) -> str | None:
    """The name of the language that claims a file, or None."""
    name = path.rpartition("/")[2]
    if name in FILENAMES:
        return FILENAMES[name]
    if name.startswith(".env."):
        return "env"
    dot = name.rfind(".")
    return SUFFIXES.get(name[dot:].lower()) if dot > 0 else None


@cache
def language(name: str) -> Language:
    """The table of a language, by name."""
    module = import_module(f"{__name__}.{MODULES.get(name, name)}")
    table: dict[str, Language] = module.LANGUAGES
    return table[name]


def manifest_names() -> frozenset[str]:
    return frozenset(MANIFESTS)
