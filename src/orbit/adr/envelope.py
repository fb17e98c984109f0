"""A decision as it lies on disk: a folder `<status>/<ID>` with a body and an envelope, `adr.yaml`: its fields, what is valid in them, a byte-stable form."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from orbit.adr.globs import problem_with
from orbit.errors import IntegrityError, UsageError

ID = re.compile(r"ADR-\d{4,}")  # the string is the id: ADR-0042 stays ADR-0042 when numbers outgrow four digits
CITATION = re.compile(r"\[(ADR-\d{4,})\]")
ENVELOPE, BODY, THREADS = "adr.yaml", "body.md", "review_threads"
SCHEMA_VERSION = 2
Status = Literal["proposed", "accepted", "superseded", "deleted"]
STATUSES: tuple[Status, ...] = ("proposed", "accepted", "superseded", "deleted")
FEATURE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
OPTIONAL = ("validation_warnings", "body_digest", "origin")  # written only when they say something


def format_id(number: int) -> str:
    return f"ADR-{number:04d}"


def number_of(adr_id: str) -> int:
    return int(adr_id[4:])


def is_id(text: str) -> bool:
    return ID.fullmatch(text) is not None


class Origin(msgspec.Struct, kw_only=True):
    """Where an imported decision came from, and the head of that file, so that an export gives it back unchanged."""

    format: Literal["madr", "nygard"]
    file: str
    head: str


class Envelope(msgspec.Struct, kw_only=True):
    """Fields in the order they are written."""

    schema_version: int = SCHEMA_VERSION
    id: str
    title: str
    status: Status
    owner: str
    created_at: str
    accepted_at: str | None = None
    last_updated: str
    related_features: list[str] = []
    related_tasks: list[str] = []
    tags: list[str] = []
    paths: list[str] = []
    supersedes: list[str] = []
    superseded_by: str | None = None
    legacy_ids: list[str] = []
    validation_warnings: list[str] = []
    body_digest: str | None = None
    origin: Origin | None = None


class Decision(msgspec.Struct, kw_only=True):
    """What both files say. The folder decides the status; an envelope that disagrees is reported, not believed. [ADR-0006]"""

    folder: str
    envelope: Envelope
    unknown: dict[str, Any]
    body: str
    problems: list[str] = []


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without timestamps: a date is the text that was written."""


class _Dumper(yaml.SafeDumper):
    """The same on the way out, with multi-line text as literal blocks."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


for _class in (_Loader, _Dumper):
    _class.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"] for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
_Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None))


def load_yaml(text: str, where: str) -> dict[str, Any]:
    """A YAML mapping; anything else is an integrity error that names the file."""
    try:
        found = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        conflict = re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE)
        hint = "the file holds git conflict markers; take one side, and `orbit adr renumber` the other" if conflict else "mend the file"
        raise IntegrityError(f"{where}: not readable as YAML: {' '.join(str(error).split())}", hint=hint) from None
    if not isinstance(found, dict):
        raise IntegrityError(f"{where}: expected a mapping of fields", hint="mend the file")
    return found


def dump_yaml(fields: dict[str, Any]) -> str:
    text: str = yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 20)
    return text


def decode(text: str, where: str) -> tuple[Envelope, dict[str, Any]]:
    """The envelope and the fields this version does not know, which a rewrite keeps."""
    fields = load_yaml(text, where)
    known = {name: fields.pop(name) for name in Envelope.__struct_fields__ if name in fields}
    try:
        envelope = msgspec.convert(known, Envelope)
    except msgspec.ValidationError as error:
        raise IntegrityError(f"{where}: {error}", hint="mend the file") from None
    if envelope.schema_version > SCHEMA_VERSION:
        raise IntegrityError(f"{where}: schema_version {envelope.schema_version} is newer than this Orbit knows", hint="upgrade orbit-native")
    return envelope, fields


def encode(envelope: Envelope, unknown: dict[str, Any]) -> str:
    fields = msgspec.to_builtins(envelope) | {"schema_version": SCHEMA_VERSION}
    return dump_yaml({name: value for name, value in fields.items() if value or name not in OPTIONAL} | unknown)


def read_decision(home: Path, folder: str) -> Decision:
    """Raises IntegrityError when the envelope cannot be read. A missing body reads as empty."""
    where = f".orbit/adrs/{folder}/{ENVELOPE}"
    status, _, adr_id = folder.partition("/")
    try:
        envelope, unknown = decode((home / folder / ENVELOPE).read_bytes().decode(), where)
    except FileNotFoundError:
        raise IntegrityError(f"{where}: missing", hint="restore the file from git, or remove the folder") from None
    except UnicodeDecodeError:
        raise IntegrityError(f"{where}: not UTF-8", hint="mend the file") from None
    problems = [f"folder is {adr_id}, envelope says {envelope.id}"] if envelope.id != adr_id else []
    problems += [f"folder is {status}/, envelope says {envelope.status}"] if envelope.status != status else []
    envelope.id, envelope.status = adr_id, status  # type: ignore[assignment]
    body_file = home / folder / BODY
    body = body_file.read_bytes().decode(errors="replace") if body_file.exists() else ""
    return Decision(folder=folder, envelope=envelope, unknown=unknown, body=body, problems=problems)


def check(envelope: Envelope) -> None:
    """Raise UsageError at the first field no new write may hold."""
    _one_line("title", envelope.title, 200)
    _one_line("owner", envelope.owner, 100)
    if not envelope.related_features:
        raise UsageError("a decision needs at least one feature", hint="name its feature folder, or `cross-cutting`")
    for feature in envelope.related_features:
        if not FEATURE.fullmatch(feature):
            raise UsageError(f"invalid feature name {feature!r}", hint="lower case words joined by single hyphens, such as `policy-sandbox`")
    for task in envelope.related_tasks:
        if task.split() != [task]:
            raise UsageError(f"invalid task id {task!r}", hint="a task id holds no spaces")
    for tag in envelope.tags:
        _one_line("tag", tag, 60)
    for glob in envelope.paths:
        if problem := problem_with(glob):
            raise UsageError(f"path glob {glob!r} {problem}", hint="write globs relative to the repository root, such as `src/orbit/**`")
    for adr_id in (*envelope.supersedes, *filter(None, [envelope.superseded_by])):
        if not is_id(adr_id):
            raise UsageError(f"{adr_id!r} is not an ADR id", hint="ids look like ADR-0042")


def tidy(values: Iterable[str], *, lower: bool = False) -> list[str]:
    """Trimmed, without empties and repeats, order kept."""
    return list(dict.fromkeys(text.lower() if lower else text for value in values if (text := value.strip())))


def _one_line(name: str, text: str, longest: int) -> None:
    if not text.strip():
        raise UsageError(f"{name} is empty")
    if len(text) > longest or any(ord(char) < 32 for char in text):
        raise UsageError(f"{name} must be one line of at most {longest} characters")
