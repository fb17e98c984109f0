"""Commands of command lines: full names composed over files, and the functions that run them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from graphs import differences

from orbit.config import Workspace
from orbit.errors import AmbiguousError, NotFoundError
from orbit.graph import Graph
from orbit.graph.index.sync import sync
from orbit.graph.store.connection import open_reader

Write = Callable[[Path, dict[str, str]], None]

TYPER = {
    "shop/__init__.py": "",
    "shop/main.py": (
        "import typer\nfrom shop import stock\nfrom shop.users import app as users\nimport shop.tools.report\n\n"
        "app = typer.Typer()\napp.add_typer(users, name='people')\napp.add_typer(stock.app)\napp.add_typer(shop.tools.report.app)\n\n"
        "@app.callback()\ndef start(): ...\n"
    ),
    "shop/users.py": (
        "import typer\nfrom .groups import app as groups\n\napp = typer.Typer(name='users')\napp.add_typer(groups, name='groups')\n\n"
        "@app.command('add')\ndef add_user():\n    save()\n\ndef save(): ...\n"
    ),
    "shop/groups.py": "import typer\napp = typer.Typer()\n\n@app.command()\ndef list_all(): ...\n",
    "shop/stock.py": "import typer\napp = typer.Typer(name='stock')\n\n@app.command()\ndef count(): ...\n",
    "shop/tools/__init__.py": "",
    "shop/tools/report.py": "import typer\napp = typer.Typer()\n\n@app.command()\ndef yearly(): ...\n",
    "shop/late.py": (
        "from shop import stock\nfrom .users import app as people\n\n@stock.app.command()\ndef move(): ...\n\n@people.command(name='drop')\ndef gone(): ...\n"
    ),
    "tests/test_users.py": "import typer\nfrom shop.users import app\n\nouter = typer.Typer()\nouter.add_typer(app, name='under-test')\n",
}
CLICK = {
    "git/__init__.py": "",
    "git/cli.py": (
        "import click\nfrom git.remote import remote\nfrom git import bisect\nfrom .extra import plugin_cmd, twice\n\n"
        "@click.group()\ndef cli(): ...\n\ncli.add_command(remote)\ncli.add_command(bisect.bisect, 'search')\ncli.add_command(plugin_cmd, name='plugin')\n"
        "cli.command('status')(twice)\n"
    ),
    "git/remote.py": (
        "import click\n\n@click.group('remote')\ndef remote(): ...\n\n@remote.command('add')\ndef add_remote():\n    check()\n\ndef check(): ...\n"
    ),
    "git/bisect.py": "import click\n\n@click.command()\ndef bisect(): ...\n",
    "git/extra.py": "import click\n\n@click.command('unused')\ndef plugin_cmd(): ...\n\ndef twice(): ...\n",
    "git/more.py": "from git import cli as top, remote\n\n@top.cli.command()\ndef push(): ...\n\n@remote.remote.command()\ndef prune(): ...\n",
    "git/own.py": (
        "import click\nfrom git.extra import twice\n\nclass PluginGroup(click.Group):\n    def __init__(self):\n        self.add_command(inner)\n\n"
        "@click.command()\ndef inner(): ...\n\nplugins = PluginGroup(name='plugins')\n"
    ),
}
CLAP = {
    "Cargo.toml": '[package]\nname = "tool"\n',
    "src/main.rs": (
        "mod cmd;\nmod remote;\nmod stash;\nmod extra;\nuse clap::Parser;\nuse cmd::Commands;\n"
        '#[derive(Parser)]\n#[command(name = "tool")]\nstruct Cli {\n    #[command(subcommand)]\n    command: Commands,\n}\n'
        "fn main() {\n    match Cli::parse().command {\n        Commands::Remote(remote) => match remote {\n"
        "            remote::Cmd::Add { name } => {\n                let url = lookup();\n                remote::add(name, url)\n            }\n"
        "            remote::Cmd::Rm(args) | remote::Cmd::Prune(args) => remote::remove(args),\n        },\n"
        "        Commands::Stash(stash::StashArgs { command: stash::StashCommand::Pop(args) }) => stash::pop(args),\n"
        "        Commands::Status => status(),\n        _ => {}\n    }\n}\nfn lookup() {}\nfn status() {}\n"
    ),
    "src/cmd.rs": (
        "use crate::{extra, remote, stash};\n#[derive(clap::Subcommand)]\npub enum Commands {\n    #[command(subcommand)]\n    Remote(remote::Cmd),\n"
        '    Stash(stash::StashArgs),\n    #[command(name = "st")]\n    Status,\n    #[command(flatten)]\n    Extra(extra::ExtraCommands),\n}\n'
    ),
    "src/remote.rs": (
        "#[derive(clap::Subcommand)]\npub enum Cmd {\n    Add { name: String },\n    Rm(Args),\n    Prune(Args),\n}\npub struct Args;\n"
        "pub fn add(name: String, url: ()) {}\npub fn remove(args: Args) {}\n"
    ),
    "src/stash.rs": (
        "#[derive(clap::Args)]\npub struct StashArgs {\n    #[command(subcommand)]\n    pub command: StashCommand,\n}\n"
        "#[derive(clap::Subcommand)]\npub enum StashCommand {\n    Pop(PopArgs),\n}\npub struct PopArgs;\npub fn pop(args: PopArgs) {}\n"
    ),
    "src/extra.rs": "#[derive(clap::Subcommand)]\npub enum ExtraCommands {\n    Doctor,\n}\n",
}
BUILT = {
    "Cargo.toml": '[package]\nname = "tool"\n',
    "src/main.rs": (
        "mod clone;\nmod remote;\nuse clap::{Arg, Command};\n"
        'fn cli() -> Command {\n    Command::new("tool")\n        .arg(Arg::new("x"))\n        .subcommand(clone::command())\n'
        '        .subcommand(\n            Command::new("remote")\n                .subcommand(Command::new("add").about("(Add)"))\n'
        '                .subcommand(Command::new("rm")),\n        )\n        .subcommand(Command::new("status"))\n}\n'
        "fn main() {\n    match cli().get_matches().subcommand() {\n        Some((\"clone\", sub)) => clone::run(sub),\n"
        '        Some(("remote", sub)) => match sub.subcommand() {\n            Some(("add", args)) => remote::add(args),\n'
        '            Some(("rm", args)) => {\n                let name = pick(args);\n                remote::remove(name, args);\n            }\n'
        "            _ => unreachable!(),\n        },\n        Some((\"status\", _)) => status(),\n        _ => {}\n    }\n}\n"
        "fn status() {}\nfn pick(args: &ArgMatches) {}\n"
    ),
    "src/clone.rs": 'use clap::Command;\npub fn command() -> Command {\n    Command::new("clone")\n}\npub fn run(args: &ArgMatches) {}\n',
    "src/remote.rs": "pub fn add(args: &ArgMatches) {}\npub fn remove(name: (), args: &ArgMatches) {}\n",
}
TREES = {"typer": TYPER, "click": CLICK, "clap": CLAP, "builder": BUILT}
# (full name, function that runs it or None); what a tree declares, apart from its tests
EXPECTED = {
    "typer": {
        ("people", "shop.users.app"), ("people add", "shop.users.add_user"), ("people drop", "shop.late.gone"), ("people groups", "shop.groups.app"),
        ("people groups list-all", "shop.groups.list_all"), ("stock", "shop.stock.app"), ("stock count", "shop.stock.count"),
        ("stock move", "shop.late.move"), ("yearly", "shop.tools.report.yearly"),
    },
    "click": {
        ("cli", "git.cli.cli"), ("cli remote", "git.remote.remote"), ("cli remote add", "git.remote.add_remote"), ("cli remote prune", "git.more.prune"),
        ("cli search", "git.bisect.bisect"), ("cli plugin", "git.extra.plugin_cmd"), ("cli status", "git.extra.twice"), ("cli push", "git.more.push"),
        ("plugins", "git.own.plugins"), ("plugins inner", "git.own.inner"),
    },
    "builder": {
        ("tool", None), ("tool clone", None), ("clone", "tool::clone::run"), ("tool remote", None), ("tool remote add", "tool::remote::add"),
        ("tool remote rm", "tool::remote::remove"), ("tool status", "tool::status"),
    },
    "clap": {
        ("tool", "tool::main"), ("tool remote", None), ("tool remote add", "tool::remote::add"), ("tool remote rm", "tool::remote::remove"),
        ("tool remote prune", "tool::remote::remove"), ("tool stash", None), ("tool stash pop", "tool::stash::pop"), ("tool st", "tool::status"),
        ("tool doctor", None),
    },
}  # fmt: skip


def declared(root: Path) -> set[tuple[str, str | None]]:
    """Commands of a worktree after a sync; one without a handler only when no row of its name has one."""
    with Graph.open(root) as graph:
        graph.sync()
        db = open_reader(Path(graph.db_path().path))
    query = "SELECT c.name, s.qualified FROM commands c LEFT JOIN symbols s ON s.id = c.handler_symbol WHERE c.file_path NOT LIKE 'tests/%'"
    rows = set(db.execute(query))
    db.close()
    return {(name, handler) for name, handler in rows if handler is not None or not any(name == other and found for other, found in rows)}


@pytest.mark.parametrize("tree", TREES)
def test_names_are_composed_over_files(repository: Path, write: Write, tree: str) -> None:
    write(repository, TREES[tree])
    assert declared(repository) == EXPECTED[tree]


@pytest.mark.parametrize(
    ("tree", "asked", "handler", "children"),
    [
        ("typer", "people add", "shop.users.add_user", ["save"]),
        ("typer", "groups list-all", "shop.groups.list_all", []),
        ("click", "cli remote add", "git.remote.add_remote", ["check"]),
        ("click", "command:search", "git.bisect.bisect", []),
        ("clap", "tool remote add", "tool::remote::add", []),
        ("clap", "pop", "tool::stash::pop", []),
    ],
)
def test_a_trace_starts_at_the_function_that_runs_the_command(
    repository: Path, write: Write, tree: str, asked: str, handler: str, children: list[str]
) -> None:
    write(repository, TREES[tree])
    with Graph.open(repository) as graph:
        graph.sync()
        root = graph.trace(asked).root
        assert root is not None
        assert (root.qualified_name, [child.name for child in root.children]) == (handler, children)
        assert graph.show(f"command:{root.name}").qualified == handler


def test_the_name_of_a_declared_script_may_stand_in_front(repository: Path, write: Write) -> None:
    write(repository, {**TYPER, "pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.main:app"\n'})
    with Graph.open(repository) as graph:
        graph.sync()
        assert graph.trace("shop people add") == graph.trace("people add")
        assert graph.trace("ship people add").reason == "unknown_command"
        handler = graph.trace("people add").root
        assert handler is not None
        for named in (f"{handler.file}#{handler.qualified_name}", str(handler.qualified_name), f"{handler.file}:{handler.line}"):
            found = graph.trace(named).root
            assert found is not None
            assert (found.qualified_name, found.line) == (handler.qualified_name, handler.line)
        assert graph.trace("shop.nothing").reason == "unknown_command"


@pytest.mark.parametrize(("crate", "program"), [("tool", "tool"), ("my-tool", "my-tool"), ("cargo-tool", "cargo tool")])
def test_the_name_of_a_crate_may_stand_in_front(repository: Path, write: Write, crate: str, program: str) -> None:
    nameless = {path: text.replace('#[command(name = "tool")]\n', "").replace('name = "tool"', f'name = "{crate}"') for path, text in CLAP.items()}
    write(repository, nameless)
    with Graph.open(repository) as graph:
        graph.sync()
        assert graph.trace(f"{program} remote add") == graph.trace("remote add")
        assert graph.trace("remote add").root is not None
        assert graph.trace("other remote add").reason == "unknown_command"


def test_a_short_name_of_several_commands_is_answered_with_their_full_names(repository: Path, write: Write) -> None:
    write(repository, {**TYPER, "shop/stock.py": f"{TYPER['shop/stock.py']}\n@app.command('add')\ndef put(): ...\n"})
    with Graph.open(repository) as graph:
        graph.sync()
        for ask in (graph.trace, graph.show):
            with pytest.raises(AmbiguousError) as caught:
                ask("command:add")
            assert caught.value.candidates == ["command:people add", "command:stock add"]
        assert graph.trace("pepole add").did_you_mean == ["people add", "people drop", "people"]
        assert graph.trace("cuont").did_you_mean == ["stock count"]
        with pytest.raises(NotFoundError) as missed:
            graph.show("command:stokc count")
        assert missed.value.candidates[0] == "command:stock count"


EDITS: dict[str, list[dict[str, str | None]]] = {
    "typer": [
        {"shop/main.py": TYPER["shop/main.py"].replace("'people'", "'accounts'")},
        {"shop/stock.py": TYPER["shop/stock.py"].replace("'stock'", "'store'")},
        {"shop/users.py": TYPER["shop/users.py"].replace("groups, name='groups'", "groups, name='teams'")},
        {"shop/main.py": None},
        {"shop/main.py": TYPER["shop/main.py"]},
        {"shop/users.py": None, "shop/people.py": TYPER["shop/users.py"], "shop/main.py": TYPER["shop/main.py"].replace("shop.users", "shop.people")},
        {"shop/groups.py": "import typer\nfrom .users import app as outer\napp = typer.Typer()\napp.add_typer(outer, name='round')\n"},
        {"aaa.py": "import typer\nfrom shop.stock import app\nfirst = typer.Typer(name='first')\nfirst.add_typer(app, name='earlier')\n"},
    ],
    "click": [
        {"git/remote.py": CLICK["git/remote.py"].replace("'remote'", "'upstream'")},
        {"git/remote.py": CLICK["git/remote.py"].replace("def remote", "def remotes")},
        {"git/remote.py": CLICK["git/remote.py"]},
        {"git/cli.py": CLICK["git/cli.py"].replace("def cli", "def main").replace("cli.", "main.")},
        {"git/own.py": None},
    ],
    "builder": [
        {"src/clone.rs": BUILT["src/clone.rs"].replace('"clone"', '"copy"')},
        {"src/clone.rs": BUILT["src/clone.rs"].replace("fn command", "fn make")},
        {"src/main.rs": BUILT["src/main.rs"].replace("clone::command", "clone::make")},
        {"src/clone.rs": None},
    ],
    "clap": [
        {"src/remote.rs": CLAP["src/remote.rs"].replace("Rm(", "Remove(")},
        {"src/cmd.rs": CLAP["src/cmd.rs"].replace("    #[command(flatten)]\n", "")},
        {"src/remote.rs": CLAP["src/remote.rs"], "src/cmd.rs": CLAP["src/cmd.rs"].replace('"st"', '"state"')},
        {"src/stash.rs": CLAP["src/stash.rs"].replace("command: StashCommand", "command: Option<Box<StashCommand>>")},
        {"src/main.rs": CLAP["src/main.rs"].replace('"tool"', '"bench"')},
        {"src/stash.rs": None},
    ],
}  # fmt: skip


@pytest.mark.parametrize("tree", TREES)
def test_after_any_edit_the_names_are_those_of_a_full_build(tmp_path: Path, write: Write, tree: str) -> None:
    root, copy = tmp_path / "tree", tmp_path / "copy"
    write(root, TREES[tree])
    sync(Workspace(root), jobs=1)
    for edit in EDITS[tree]:
        write(root, {path: text for path, text in edit.items() if text is not None})
        for path in (path for path, text in edit.items() if text is None):
            (root / path).unlink()
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".orbit"))
        one, other = open_reader(Path(sync(Workspace(root), jobs=1).db)), open_reader(Path(sync(Workspace(copy), jobs=1).db))
        assert differences(one, other) == []
        one.close()
        other.close()


def test_groups_that_hang_on_each_other_come_to_an_end(repository: Path, write: Write) -> None:
    write(repository, {"loop.py": "import typer\na = typer.Typer(name='a')\nb = typer.Typer(name='b')\na.add_typer(b)\nb.add_typer(a)\na.add_typer(a)\n"})
    assert {name for name, _ in declared(repository)} == {"a b", "a b a", "b a", "b a a", "b a b"}


def test_a_name_only_a_run_can_tell_is_not_made_up(repository: Path, write: Write) -> None:
    source = "import click\n@click.group()\ndef cli(): ...\nfor one in ALL:\n    cli.add_command(one)\ndef fill(name, f):\n    cli.command(name)(f)\n"
    write(repository, {"made.py": source})
    assert declared(repository) == {("cli", "made.cli")}
