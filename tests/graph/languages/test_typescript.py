"""TypeScript and JavaScript beyond the outlines: where imports lead, and sources that are not whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit_native.names import Names

CORPUS = Path(__file__).parent / "corpus"
LANGUAGES = ("typescript", "tsx", "javascript")
import_target, module_of = language("typescript").import_target, language("typescript").module_of


class Tree:
    """A worktree in memory: paths, and the texts of its manifests."""

    def __init__(self, *paths: str) -> None:
        self.paths = set(paths)
        self.texts: dict[str, str] = {}

    def add(self, path: str, content: object) -> Tree:
        self.paths.add(path)
        self.texts[path] = content if isinstance(content, str) else json.dumps(content)
        return self

    def has(self, path: str) -> bool:
        return path in self.paths

    def text(self, path: str) -> str | None:
        return self.texts.get(path)

    def manifests(self, name: str) -> Sequence[str]:
        return sorted(path for path in self.texts if path.rpartition("/")[2] == name)


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("src/shop/cart.ts", "src/shop/cart"),
        ("types/api.d.ts", "types/api"),
        ("types/api.d.mts", "types/api"),
        ("src/index.tsx", "src/index"),
        ("src/cart.test.ts", "src/cart.test"),
        ("main.mjs", "main"),
        (".eslintrc.cjs", ".eslintrc"),
    ],
)
def test_module_of_a_file_is_its_path_without_extension(path: str, module: str) -> None:
    assert module_of(path, Tree(path)) == module


FILES = (
    "src/app.ts",
    "src/a.ts",
    "src/b.tsx",
    "src/c.d.ts",
    "src/d.js",
    "src/dir/index.ts",
    "src/e.mts",
    "src/f.cts",
    "src/v1.2.ts",
    "src/g/index.jsx",
    "index.ts",
)


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("./a", "src/a"),
        ("./a.js", "src/a"),
        ("./a.ts", "src/a"),
        ("./b.jsx", "src/b"),
        ("./b", "src/b"),
        ("./c", "src/c"),
        ("./c.js", "src/c"),
        ("./d", "src/d"),
        ("./d.js", "src/d"),
        ("./dir", "src/dir/index"),
        ("./dir/", "src/dir/index"),
        ("./dir/index.js", "src/dir/index"),
        ("./e.mjs", "src/e"),
        ("./f.cjs", "src/f"),
        ("./v1.2", "src/v1.2"),
        ("./g", "src/g/index"),
        ("..", "index"),
        ("../src/a", "src/a"),
        ("./a?raw", "src/a"),
        ("./gone", "src/gone"),
        ("./gone.js", "src/gone"),
        ("./style.css", None),
        ("../../outside", None),
        ("react", None),
        ("node:fs", None),
        ("https://example.com/x.js", None),
        ("", None),
    ],
)
def test_import_finds_the_file_a_path_means(text: str, module: str | None) -> None:
    assert import_target(text, "src/app.ts", "src/app", Tree(*FILES)) == module


def test_import_follows_paths_and_base_url_of_the_nearest_config() -> None:
    tree = Tree(
        "apps/web/src/ui/button.tsx", "apps/web/src/ui/index.ts", "apps/web/src/main.ts", "apps/web/generated/api.ts", "shared/log.ts", "apps/web/src/env.ts"
    )
    tree.add("configs/strict.json", {"compilerOptions": {"strict": True}})
    tree.add(
        "tsconfig.json",
        """{
        // what all projects share
        "compilerOptions": {
            "baseUrl": ".", /* the root */
            "paths": {"~shared/*": ["shared/*"],},
            "comment": "// not one, /* nor this */ ,]",
        },
    }""",
    )
    tree.add(
        "apps/web/tsconfig.json",
        {
            "extends": ["../../configs/strict", "../../tsconfig.json"],
            "compilerOptions": {
                "baseUrl": "src",
                "paths": {"@/*": ["./*"], "@/api": ["../generated/api.ts"], "*.view": ["ui/*"], "~shared/*": ["../../../shared/*"]},
            },
        },
    )
    found = {
        text: import_target(text, "apps/web/src/main.ts", "", tree) for text in ("@/ui/button", "@/ui", "@/api", "button.view", "env", "~shared/log", "lodash")
    }
    assert found == {
        "@/ui/button": "apps/web/src/ui/button",
        "@/ui": "apps/web/src/ui/index",
        "@/api": "apps/web/generated/api",
        "button.view": "apps/web/src/ui/button",
        "env": "apps/web/src/env",
        "~shared/log": "shared/log",
        "lodash": None,
    }
    assert import_target("~shared/log", "tools/run.ts", "", tree) == "shared/log"


def test_import_follows_projects_a_config_refers_to() -> None:
    tree = Tree("src/main.ts", "src/lib/x.ts")
    tree.add("tsconfig.json", {"files": [], "references": [{"path": "./tsconfig.app.json"}]})
    tree.add("tsconfig.app.json", {"compilerOptions": {"paths": {"$lib/*": ["./src/lib/*"]}}})
    assert import_target("$lib/x", "src/main.ts", "", tree) == "src/lib/x"


def test_configs_that_extend_each_other_or_are_no_json_lead_nowhere() -> None:
    tree = Tree("a.ts", "b.ts").add("tsconfig.json", {"extends": "./tsconfig.other.json"}).add("tsconfig.other.json", {"extends": "./tsconfig.json"})
    assert import_target("b", "a.ts", "a", tree) is None
    for text in ("{", "[1]", '{"compilerOptions": 3}', '{"compilerOptions": {"paths": {"x": "y"}, "baseUrl": 1}}', '{"extends": 5, "references": [1]}'):
        assert import_target("x", "a.ts", "a", Tree("a.ts").add("tsconfig.json", text)) is None


def workspace() -> Tree:
    tree = Tree(
        "packages/core/src/index.ts", "packages/core/src/deep/thing.ts", "packages/core/src/node.ts", "packages/core/src/internal/db.ts",
        "packages/ui/lib/main.js", "packages/ui/theme/dark.js", "packages/plain/index.js", "packages/app/src/main.ts", "packages/legacy/source/entry.ts",
    )  # fmt: skip
    tree.add("package.json", {"name": "root", "workspaces": ["packages/*"]})
    tree.add(
        "packages/core/package.json",
        {
            "name": "@shop/core",
            "exports": {
                ".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs"},
                "./node": {"node": {"import": "./dist/node.js"}, "default": None},
                "./deep/*": "./dist/deep/*.js",
            },
            "imports": {"#db": "./src/internal/db.ts", "#internal/*": {"default": "./src/internal/*.js"}},
        },
    )
    tree.add("packages/ui/package.json", {"name": "ui", "main": "lib/main"})
    tree.add("packages/plain/package.json", {"name": "plain"})
    tree.add("packages/app/package.json", {"name": "app"})
    tree.add("packages/legacy/package.json", {"name": "legacy", "main": "dist/entry.js", "source": "source/entry.ts"})
    return tree


@pytest.mark.parametrize(
    ("text", "path", "module"),
    [
        ("@shop/core", "packages/app/src/main.ts", "packages/core/src/index"),
        ("@shop/core/node", "packages/app/src/main.ts", "packages/core/src/node"),
        ("@shop/core/deep/thing", "packages/app/src/main.ts", "packages/core/src/deep/thing"),
        ("@shop/core", "packages/core/src/deep/thing.ts", "packages/core/src/index"),
        ("#db", "packages/core/src/deep/thing.ts", "packages/core/src/internal/db"),
        ("#internal/db", "packages/core/src/deep/thing.ts", "packages/core/src/internal/db"),
        ("#db", "packages/app/src/main.ts", None),
        ("ui", "packages/app/src/main.ts", "packages/ui/lib/main"),
        ("ui/theme/dark", "packages/app/src/main.ts", "packages/ui/theme/dark"),
        ("plain", "packages/app/src/main.ts", "packages/plain/index"),
        ("legacy", "packages/app/src/main.ts", "packages/legacy/source/entry"),
        ("../../plain", "packages/app/src/main.ts", "packages/plain/index"),
        ("../../legacy", "packages/app/src/main.ts", "packages/legacy/source/entry"),
        ("@shop/absent", "packages/app/src/main.ts", None),
        ("@shop", "packages/app/src/main.ts", None),
    ],
)
def test_import_finds_packages_of_the_worktree(text: str, path: str, module: str | None) -> None:
    assert import_target(text, path, "", workspace()) == module


def test_every_target_is_the_module_of_a_file() -> None:
    tree = workspace()
    modules = {module_of(path, tree) for path in tree.paths}
    for text in ("@shop/core", "@shop/core/node", "@shop/core/deep/thing", "ui", "ui/theme/dark", "plain", "legacy"):
        assert import_target(text, "packages/app/src/main.ts", "", tree) in modules


def test_exports_carry_whether_they_are_of_the_whole_module() -> None:
    facts = extract(language("javascript"), b"function A() {}\nmodule.exports = A;\nmodule.exports.b = A;\n", Names())
    assert [(facts.text(e.name), facts.text(e.value), sorted(e.flags)) for e in facts.exports] == [
        ("default", "A", ["commonjs"]), ("", "A", ["whole"]), ("b", "A", [])
    ]  # fmt: skip


def test_parameters_are_counted_also_without_parentheses() -> None:
    source = b"const a = x => x, b = () => 1, c = (x, /* y */ z) => x; class K { f = v => v; g(a, b, c) {} }"
    for name in LANGUAGES:
        facts = extract(language(name), source, Names())
        assert {d.name: d.argc for d in facts.definitions if d.kind in ("function", "method")} == {"a": 1, "b": 0, "c": 2, "f": 1, "g": 3}


@pytest.mark.parametrize("name", LANGUAGES)
def test_truncated_and_spliced_sources_never_raise(name: str) -> None:
    sources = [path.read_bytes() for path in sorted(CORPUS.glob("*script/*.src")) + sorted(CORPUS.glob("tsx/*.src"))]
    table, names = language(name), Names()
    for index, source in enumerate(sources):
        other = sources[(index + 1) % len(sources)]
        for cut in range(0, len(source), 211):
            for broken in (source[:cut], source[cut:], source[:cut] + other[cut:], source[:cut] + b"\0\xff" + source[cut + 7 :]):
                facts = extract(table, broken, names)
                assert all(0 <= d.start <= d.end <= len(broken) and -1 <= d.parent < len(facts.definitions) for d in facts.definitions)
                assert all(-1 <= row[6] < len(facts.definitions) for row in facts.refs.tolist())
