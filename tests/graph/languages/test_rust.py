"""Rust: where a file stands in its crate, and where a `use` leads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit.graph.languages.cargo import import_target, module_of
from orbit_native.names import Names


class Tree:
    """A worktree made of a dict."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def has(self, path: str) -> bool:
        return path in self.files

    def text(self, path: str) -> str | None:
        return self.files.get(path)

    def manifests(self, name: str) -> Sequence[str]:
        return sorted(path for path in self.files if path.rpartition("/")[2] == name)


WORKSPACE = Tree({
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n[workspace.dependencies]\nshared = { package = "yard-shared", path = "crates/shared" }\n',
    "crates/core/Cargo.toml": '[package]\nname = "yard-core"\n[dependencies]\nserde = "1"\n',
    "crates/core/src/lib.rs": "", "crates/core/src/gate.rs": "", "crates/core/src/gate/lock.rs": "", "crates/core/src/fence/mod.rs": "",
    "crates/shared/Cargo.toml": '[package]\nname = "yard-shared"\n[lib]\nname = "yshared"\npath = "code/root.rs"\n',
    "crates/shared/code/root.rs": "", "crates/shared/code/deep/er.rs": "",
    "crates/app/Cargo.toml": (
        '[package]\nname = "app"\n[[bin]]\nname = "app-tool"\npath = "tools/tool.rs"\n'
        '[dependencies]\ncore2 = { package = "yard-core", path = "../core" }\nshared.workspace = true\nclap = { version = "4" }\n'
    ),
    "crates/app/src/main.rs": "", "crates/app/src/cli.rs": "", "crates/app/src/bin/extra.rs": "", "crates/app/src/bin/big/main.rs": "",
    "crates/app/src/bin/big/part.rs": "", "crates/app/tools/tool.rs": "", "crates/app/tests/walks.rs": "", "crates/app/tests/common/mod.rs": "",
    "crates/app/build.rs": "",
    "loose/src/alone.rs": "",
})  # fmt: skip


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("crates/core/src/lib.rs", "yard_core"),
        ("crates/core/src/gate.rs", "yard_core::gate"),
        ("crates/core/src/gate/lock.rs", "yard_core::gate::lock"),
        ("crates/core/src/fence/mod.rs", "yard_core::fence"),
        ("crates/shared/code/root.rs", "yshared"),
        ("crates/shared/code/deep/er.rs", "yshared::deep::er"),
        ("crates/app/src/main.rs", "app"),
        ("crates/app/src/cli.rs", "app::cli"),
        ("crates/app/src/bin/extra.rs", "extra"),
        ("crates/app/src/bin/big/main.rs", "big"),
        ("crates/app/src/bin/big/part.rs", "big::part"),
        ("crates/app/tools/tool.rs", "app_tool"),
        ("crates/app/tests/walks.rs", "walks"),
        ("crates/app/tests/common/mod.rs", "common"),
        ("crates/app/build.rs", "build"),
        ("loose/src/alone.rs", "loose::alone"),
    ],
)
def test_a_file_is_a_module_of_its_crate(path: str, module: str) -> None:
    assert module_of(path, WORKSPACE) == module


@pytest.mark.parametrize(
    ("text", "path", "target"),
    [
        ("crate::gate", "crates/core/src/fence/mod.rs", "yard_core::gate"),
        ("self", "crates/core/src/gate.rs", "yard_core::gate"),
        ("super::fence", "crates/core/src/gate.rs", "yard_core::fence"),
        ("super::super", "crates/core/src/gate/lock.rs", "yard_core"),
        ("gate", "crates/core/src/lib.rs", "yard_core::gate"),
        ("std::fmt", "crates/core/src/lib.rs", None),
        ("serde::de", "crates/core/src/lib.rs", None),
        ("core2::gate", "crates/app/src/main.rs", "yard_core::gate"),
        ("shared::deep", "crates/app/src/cli.rs", "yshared::deep"),
        ("app::cli", "crates/app/tests/walks.rs", "app::cli"),
        ("crate::cli", "crates/app/src/main.rs", "app::cli"),
        ("self::common", "crates/app/tests/walks.rs", "common"),
        ("common", "crates/app/tests/walks.rs", "common"),
        ("clap", "crates/app/src/cli.rs", None),
        ("::core2", "crates/app/src/cli.rs", "yard_core"),
        ("crate", "crates/app/src/bin/big/part.rs", "big"),
        ("", "crates/app/src/cli.rs", "app::cli"),
        ("super::super::super", "crates/app/src/cli.rs", None),
    ],
)
def test_a_path_leads_to_a_module_of_the_worktree_or_nowhere(text: str, path: str, target: str | None) -> None:
    assert import_target(text, path, module_of(path, WORKSPACE), WORKSPACE) == target


def test_a_manifest_that_is_no_toml_is_passed_over() -> None:
    assert module_of("a/src/x.rs", Tree({"a/Cargo.toml": "[package\nname =", "a/src/x.rs": ""})) == "a::x"


def test_paths_inside_inline_modules_are_told_from_the_file() -> None:
    source = b"mod a { use super::super::x; use self::y; mod b { use super::Z; use super::super::W; } } enum E { P } use E::*; use crate::q; use q::R;"
    facts = extract(language("rust"), source, Names())
    found = [(facts.text(i.path), facts.text(i.name)) for i in facts.imports]
    assert found == [("super", "x"), ("self::a", "y"), ("self::a", "Z"), ("self", "W"), ("self::E", ""), ("crate", "q"), ("crate::q", "R")]


@pytest.mark.parametrize("cut", range(0, 400, 7))
def test_a_torn_source_still_gives_facts_in_order(cut: int) -> None:
    source = b"""use a::{b::{c, d as e}, f::*};
#[derive(Parser)] #[command(name = "x")] struct Cli { #[command(subcommand)] c: Cmd }
#[derive(Subcommand)] enum Cmd { Add(Args), Go { x: u8 } }
impl Cmd { fn run(self) { match self { Self::Add(a) => a.run(), Cmd::Go { x } => { go(x, y.z(1)) } } } }
impl<T: Tr> Tr for Vec<T> { fn m(&self) { println!("{}", self.a.b(c::d(1))); } }"""
    facts = extract(language("rust"), source[:cut] + source[cut + 3 :], Names())
    assert all(0 <= d.start <= d.end <= len(source) for d in facts.definitions)
