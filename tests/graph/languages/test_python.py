"""Python: names of modules, targets of imports, and fix-ups on sources no golden holds."""

from __future__ import annotations

import pytest

from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit_native.names import Names

PYTHON = language("python")


class Tree:
    """A layout of given files; those with text are manifests."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def has(self, path: str) -> bool:
        return path in self.files

    def has_part(self, name: str) -> bool:
        return any(name in path.partition(".")[0].split("/") for path in self.files)

    def text(self, path: str) -> str | None:
        return self.files.get(path)

    def manifests(self, name: str) -> list[str]:
        return sorted(path for path in self.files if path.rpartition("/")[2] == name)


def tree(*paths: str, **manifests: str) -> Tree:
    return Tree({**dict.fromkeys(paths, ""), **{name.replace("__", "/").replace("_toml", ".toml"): text for name, text in manifests.items()}})


FLAT = tree(
    "pyproject.toml", "shop/__init__.py", "shop/models.py", "shop/db/__init__.py", "shop/db/store.py", "tests/test_models.py", "tests/conftest.py", "run.py"
)
SOURCE = tree("pyproject.toml", "src/shop/__init__.py", "src/shop/cli.py", "src/acme/tools/mend.py", "tests/__init__.py", "tests/test_cli.py", "docs/conf.py")
MANY = tree(
    "pyproject.toml", "packages/core/pyproject.toml", "packages/core/core/__init__.py", "packages/core/core/engine.py",
    "packages/web/pyproject.toml", "packages/web/src/web/__init__.py", "packages/web/src/web/views.py", "packages/web/tests/test_views.py",
    "backend/app/__init__.py", "backend/app/models.py", "backend/manage.py",
)  # fmt: skip
DECLARED = tree("code/lib/shop/__init__.py", "code/lib/shop/a.py", "code/other.py", code__pyproject_toml='[tool.setuptools.packages.find]\nwhere = ["lib"]\n')
NAMESPACE = tree(
    "acme/cloud/store/__init__.py", "acme/cloud/store/disk.py", "tests/unit/pkg/__init__.py", pyproject_toml="[tool.setuptools]\nnamespaces = true\n"
)
STUBS = tree("shop-stubs/__init__.pyi", "shop-stubs/api.pyi", "shop/__init__.py", "shop/api.py")


@pytest.mark.parametrize(
    ("layout", "path", "module"),
    [
        (FLAT, "shop/__init__.py", "shop"),
        (FLAT, "shop/db/store.py", "shop.db.store"),
        (FLAT, "tests/test_models.py", "tests.test_models"),
        (FLAT, "run.py", "run"),
        (SOURCE, "src/shop/cli.py", "shop.cli"),
        (SOURCE, "src/acme/tools/mend.py", "acme.tools.mend"),
        (SOURCE, "tests/test_cli.py", "tests.test_cli"),
        (SOURCE, "docs/conf.py", "docs.conf"),
        (MANY, "packages/core/core/engine.py", "core.engine"),
        (MANY, "packages/web/src/web/views.py", "web.views"),
        (MANY, "packages/web/tests/test_views.py", "tests.test_views"),
        (MANY, "backend/app/models.py", "app.models"),
        (MANY, "backend/manage.py", "backend.manage"),
        (DECLARED, "code/lib/shop/a.py", "shop.a"),
        (DECLARED, "code/other.py", "other"),
        (NAMESPACE, "acme/cloud/store/disk.py", "acme.cloud.store.disk"),
        (NAMESPACE, "tests/unit/pkg/__init__.py", "pkg"),
        (STUBS, "shop-stubs/api.pyi", "shop.api"),
        (tree("__init__.py"), "__init__.py", "__init__"),
        (tree(), "odd-name.v2.py", "odd-name.v2"),
    ],
)
def test_module_of_file(layout: Tree, path: str, module: str) -> None:
    assert PYTHON.module_of(path, layout) == module


@pytest.mark.parametrize(
    ("layout", "path", "text", "target"),
    [
        (FLAT, "shop/models.py", ".", "shop"),
        (FLAT, "shop/models.py", ".db", "shop.db"),
        (FLAT, "shop/db/store.py", "..models", "shop.models"),
        (FLAT, "shop/db/__init__.py", ".store", "shop.db.store"),
        (FLAT, "shop/db/__init__.py", "..", "shop"),
        (FLAT, "shop/models.py", ".generated", "shop.generated"),
        (FLAT, "run.py", "....far", None),
        (FLAT, "tests/test_models.py", "shop.db.store", "shop.db.store"),
        (FLAT, "tests/test_models.py", "conftest", "tests.conftest"),
        (FLAT, "shop/models.py", "shop.compiled", "shop.compiled"),
        (FLAT, "shop/models.py", "json", None),
        (FLAT, "shop/models.py", "requests.adapters", None),
        (FLAT, "shop/db/store.py", "models", None),
        (SOURCE, "tests/test_cli.py", "shop.cli", "shop.cli"),
        (SOURCE, "src/shop/cli.py", "acme.tools.mend", "acme.tools.mend"),
        (MANY, "packages/web/src/web/views.py", "core.engine", "core.engine"),
        (MANY, "packages/core/core/engine.py", "web", "web"),
        (MANY, "backend/manage.py", "app.models", "app.models"),
        (MANY, "backend/app/models.py", "manage", "backend.manage"),
        (DECLARED, "code/other.py", "shop.a", "shop.a"),
        (NAMESPACE, "acme/cloud/store/disk.py", "acme.cloud.store", "acme.cloud.store"),
        (NAMESPACE, "acme/cloud/store/disk.py", "acme.cloud", "acme.cloud"),
    ],
)
def test_target_of_import(layout: Tree, path: str, text: str, target: str | None) -> None:
    assert PYTHON.import_target(text, path, PYTHON.module_of(path, layout), layout) == target


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"@",
        b"@property",
        b"@x.command(",
        b"global x\nx = 1",
        b"def f():\n  nonlocal y\n  y = 1",
        b'x: Literal["',
        b"\xef\xbb\xbfx = 1\r\n",
        b"\xff\xfe: '\xff'",
    ],
)
def test_broken_sources_give_facts(source: bytes) -> None:
    facts = extract(PYTHON, source, Names())
    assert all(0 <= found.start <= found.end <= len(source) for found in facts.definitions)


def test_chat_commands_are_not_of_the_command_line() -> None:
    assert extract(PYTHON, b"from discord.ext import commands\n@bot.command()\nasync def ping(ctx): pass\n", Names()).commands == []


def test_quoted_choices_are_not_types() -> None:
    facts = extract(PYTHON, b'def f(mode: Literal["r", "w"], kind: "Literal[\'x\'] | Kind") -> "a.B[c.D]": ...\n', Names())
    assert [(facts.text(row[5]), facts.text(row[1])) for row in facts.refs.tolist()] == [("", "Kind"), ("a", "B"), ("c", "D")]


def test_a_method_named_like_a_test_is_one_only_in_a_class_of_tests() -> None:
    source = b"""
class App:
    def test_client(self): ...

class Checks(unittest.TestCase):
    def test_one(self): ...

class TestApp:
    def test_two(self): ...

def test_three(): ...
"""
    facts = extract(PYTHON, source, Names())
    kinds = {found.name: found.kind for found in facts.definitions if found.name.startswith("test_")}
    assert kinds == {"test_client": "method", "test_one": "test", "test_two": "test", "test_three": "test"}
