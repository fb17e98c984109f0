"""Which operations are tools, what a client is told about each, and how what it sends is read. Runs nothing."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec

from orbit.errors import UsageError
from orbit.mcp.schema import full_schema, input_schema, output_schema
from orbit.operations import ROOMS, Operation, find

DEFAULT_PROFILE = "graph"
SOURCE_BYTES = 16_000  # what `show` gives unless asked for more: with its other fields below the budget of an answer
_BOUNDS = ("limit", "max_bytes")  # who names one of these asks for an answer of that size
_WORKTREE = ("workspace_path", "workspace", "root", "repo", "repo_path", "worktree", "project", "project_path", "cwd")
_SELECTOR = ("selector", "symbol", "name", "target", "path", "file", "qualified_name", "qualified", "query", "scope")
_COMMAND = ("command", "command_name", "name", "selector", "query")
_QUERY = ("query", "q", "text", "pattern", "name", "symbol", "keyword", "term")
_PATH, _NAME = ("path", "file"), ("symbol", "name")  # who sends one of each means a symbol in a file
_ALIKE = {"max_results": "limit", "top_k": "limit", "count": "limit", "max_depth": "depth", "min_confidence": "confidence", "language": "lang"}
_FORMS = "name, qualified name, symbol:<path>#<name>, file:<path>"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """An operation as a client sees it. `hidden` parameters are accepted and not advertised."""

    name: str
    operation: str
    description: str
    spellings: tuple[str, ...] = ()  # other names under which the first parameter may come
    hidden: frozenset[str] = frozenset()
    required: tuple[str, ...] = ()  # besides those without a default
    notes: dict[str, str] = {}
    defaults: dict[str, Any] = {}

    @property
    def room(self) -> str:
        return self.operation.partition(".")[0]

    @property
    def target(self) -> Operation:
        return find(self.operation)

    def advertised(self) -> dict[str, Any]:
        """What `tools/list` says of it."""
        operation = self.target
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": input_schema(operation.params, self.hidden, self.required, self.notes, self.defaults),
            "outputSchema": output_schema(operation.answer),
            "annotations": {"readOnlyHint": True},
        }

    def full_schema(self) -> dict[str, Any]:
        return full_schema(self.target.answer)

    def read(self, given: Mapping[str, Any], root: str) -> tuple[dict[str, Any], bool]:
        """Params of the operation from what a client sent, and whether it named a size for the answer. Raises UsageError."""
        fields = {field.encode_name: field for field in msgspec.structs.fields(self.target.params)}
        asked: dict[str, Any] = {}
        for name, value in self._named(given, fields, root).items():
            asked[name] = _shaped(name, value, fields[name].type)
        try:
            if missing := [name for name in self.required if not str(asked.get(name, "")).strip()]:
                raise msgspec.ValidationError(f"{missing[0]} is missing or empty")
            checked = msgspec.convert({**self.defaults, **asked}, self.target.params, strict=False)
        except msgspec.ValidationError as error:
            named = re.search(r"\$\.(\w+)", str(error))
            choices = _choices(fields[named[1]].type) if named else set()
            hint = f"{named[1]}: {', '.join(sorted(choices))}" if named and choices else self._parameters(fields)
            raise UsageError(f"{self.name}: {error}", hint=hint) from None
        return msgspec.to_builtins(checked), any(name in asked for name in _BOUNDS)

    def _named(self, given: Mapping[str, Any], fields: Mapping[str, Any], root: str) -> dict[str, Any]:
        """The values by the names of the params; null is the same as nothing."""
        named: dict[str, Any] = {}
        first = next((name for name, field in fields.items() if field.required or name in self.required), next(iter(fields), ""))
        path, symbol = (next((given[name] for name in names if given.get(name)), None) for names in (_PATH, _NAME))
        if self.spellings is _SELECTOR and path and symbol and first not in given:
            given = {first: f"symbol:{path}#{symbol}", **{name: value for name, value in given.items() if name not in (*_PATH, *_NAME)}}
        for name, value in given.items():
            if value is None:
                continue
            name = name if name in fields else _ALIKE.get(name, name)
            if name in fields:
                named[name] = value
            elif name in self.spellings and given.get(first) is None and first not in named:
                named[first] = value
            elif name in _WORKTREE:
                if str(value) not in (root, f"{root}/", ".", "./", ""):
                    raise UsageError(f"this server answers for {root} only", hint=f"leave out {name!r}; start another server for another worktree")
            else:
                raise UsageError(f"{self.name} has no parameter {name!r}", hint=self._parameters(fields))
        return named

    def _parameters(self, fields: Mapping[str, Any]) -> str:
        return f"parameters of {self.name}: {', '.join(name for name in fields if name not in self.hidden)}"


def _shaped(name: str, value: Any, wanted: Any) -> Any:
    """A list where one is expected, and no list where none is; choices in any case, and in the plural."""
    if _takes_list(wanted):
        if isinstance(value, str) and value.lstrip().startswith("["):
            with contextlib.suppress(msgspec.DecodeError):
                value = msgspec.json.decode(value)
        return value if isinstance(value, list) else [value]
    if isinstance(value, list):
        if len(value) != 1:
            raise UsageError(f"{name} is one value, not {len(value)}", hint="call once for each")
        value = value[0]
    forms = (value.lower(), value.lower().removesuffix("s")) if isinstance(value, str) else ()
    return next((form for form in forms if form in _choices(wanted)), value)


def _takes_list(wanted: Any) -> bool:
    return getattr(wanted, "__origin__", wanted) in (list, tuple) or any(_takes_list(part) for part in get_args(wanted) if not isinstance(part, str))


def _choices(wanted: Any) -> set[str]:
    found: set[str] = set()
    for part in get_args(wanted):
        found |= {part} if isinstance(part, str) else _choices(part)
    return found


def _tool(operation: str, description: str, spellings: tuple[str, ...] = _SELECTOR, **more: Any) -> Tool:
    return Tool(name=f"orbit_{operation.replace('.', '_')}", operation=operation, description=description, spellings=spellings, **more)


_SYNC = "Wait until the graph has caught up with the files. Edits are followed in the background; call after an edit you must see, or when fresh is false."
_SEARCH = "Find where a symbol, string literal or config key is defined, by name, prefix or words. Start here."
_ADR_FILTERS = frozenset({"feature", "owner", "task_id", "tag", "since", "legacy_id"})
_ADR_NAMES = ("adr", "adr_id", "name")

TOOLS = (
    _tool("graph.sync", _SYNC, spellings=(), hidden=frozenset({"jobs"})),
    _tool("graph.search", _SEARCH, spellings=_QUERY, hidden=frozenset({"task_id"}), required=("query",)),
    _tool("graph.show", "Source of one symbol or file.", notes={"selector": _FORMS}, defaults={"max_bytes": SOURCE_BYTES}),
    _tool("graph.refs", "Who calls, uses, extends or imports it (inbound, direct)."),
    _tool("graph.callees", "What it calls (outbound, direct)."),
    _tool("graph.impact", "What may break if it changes: transitive, nearest first, tests marked."),
    _tool("graph.trace", "Call tree of a CLI command, from its handler.", spellings=_COMMAND),
    _tool("graph.overview", "Languages, sizes and files of the tree, a dir: or a file:."),
    _tool("graph.implementors", "Types that implement or extend it."),
    _tool("graph.deps", "What a file: or dir: imports."),
    _tool("adr.search", "Find design decisions by words.", spellings=_QUERY, hidden=_ADR_FILTERS, required=("query",)),
    _tool("adr.show", "One decision in full.", spellings=_ADR_NAMES, hidden=frozenset({"legacy_id"})),
    _tool("adr.for", "Decisions that govern a path or symbol. Ask before changing code."),
    _tool("run.events", "Events of a recorded run; default: the latest.", spellings=("run_id", "id")),
)


def choose(profile: str) -> dict[str, Tool]:
    """The tools of a profile: a room, `all`, or names with or without `orbit_`, separated by commas."""
    chosen: set[str] = set()
    for word in (part.strip() for part in profile.split(",")):
        name = word if word.startswith("orbit_") else f"orbit_{word.replace('.', '_')}"
        found = {tool.name for tool in TOOLS if word == "all" or tool.room == word or tool.name == name}
        if word and not found:
            raise UsageError(f"no tool or profile {word!r}", hint=f"profiles: {', '.join([*ROOMS, 'all'])}; tools: {', '.join(tool.name for tool in TOOLS)}")
        chosen |= found
    if not chosen:
        raise UsageError("no tools chosen", hint=f"profiles: {', '.join([*ROOMS, 'all'])}")
    return {tool.name: tool for tool in TOOLS if tool.name in chosen}


_COMMAND_LINE = re.compile(r"`?orbit (graph|adr|run) ([a-z]+)((?: [^`]*?)?)`")


def for_agents(sentence: str, listed: Sequence[str]) -> str:
    """A sentence written for the command line, in words of the tools a client has; other commands are left as they are."""

    def put(match: re.Match[str]) -> str:
        name = f"orbit_{match[1]}_{match[2]}"
        return name + match[3].replace(" --", " ") if name in listed else match[0]

    return re.sub(r"\brun (?=`orbit_|orbit_)", "call ", _COMMAND_LINE.sub(put, sentence))
