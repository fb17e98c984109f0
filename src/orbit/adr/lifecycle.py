"""How a decision comes to be and what may become of it.

    proposed ── update --status accepted --task T ──> accepted
       │  └──── update --status deleted ──> deleted      │
       └──────────── supersede ──> superseded <── supersede

Everything is checked before anything is written, so a refused change leaves every byte as it was.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.adr.body import ADDENDUM, SECTIONS, compose, digest, replace_sections
from orbit.adr.envelope import BODY, ENVELOPE, Decision, Envelope, Status, check, encode, format_id, tidy
from orbit.adr.journal import Change, Move, Step
from orbit.adr.store import Store
from orbit.audit import CommandRow, now
from orbit.errors import RefusedError, UsageError
from orbit.model import ARGUMENT

Features = Annotated[list[str], Meta(description="Feature folder it belongs to; repeat for more.", extra={"cli": {"flag": "--feature"}})]
Tasks = Annotated[list[str], Meta(description="Task it came from or was shipped by; repeat for more.", extra={"cli": {"flag": "--task"}})]
Tags = Annotated[list[str], Meta(description="Free label; repeat for more.", extra={"cli": {"flag": "--tag"}})]
Paths = Annotated[list[str], Meta(description="Glob of files it constrains, from the repository root; repeat for more.", extra={"cli": {"flag": "--path"}})]
AdrId = Annotated[str, Meta(description="Id such as ADR-0042, or <status>/<id> where two branches took one number.", extra=ARGUMENT)]
Context = Annotated[str | None, Meta(description="Why a decision was forced.")]
Chosen = Annotated[str | None, Meta(description="What was chosen.")]
Consequences = Annotated[str | None, Meta(description="Bullets, one of them `- Cost: ...`.")]
BodyFile = Annotated[str | None, Meta(description="File with the whole body, instead of sections.")]


class AddParams(msgspec.Struct):
    title: Annotated[str, Meta(description="A noun phrase, one line.")]
    owner: Annotated[str, Meta(description="Who answers for it.")]
    related_features: Features
    related_tasks: Tasks = []
    tags: Tags = []
    paths: Paths = []
    context: Context = None
    decision: Chosen = None
    consequences: Consequences = None
    body_file: BodyFile = None


class AddAnswer(msgspec.Struct, kw_only=True):
    id: str
    path: str


class UpdateParams(msgspec.Struct):
    id: AdrId
    status: Annotated[Status | None, Meta(description="New status; acceptance needs --task.")] = None
    title: Annotated[str | None, Meta(description="New title, while it is proposed.")] = None
    owner: Annotated[str | None, Meta(description="New owner.")] = None
    related_features: Features | None = None
    related_tasks: Tasks | None = None
    tags: Tags | None = None
    paths: Paths | None = None
    context: Context = None
    decision: Chosen = None
    consequences: Consequences = None
    body_file: BodyFile = None
    addendum: Annotated[str | None, Meta(description="Dated text appended to the body; the only way to add to an accepted one.")] = None


class SupersedeParams(msgspec.Struct):
    old_id: Annotated[str, Meta(description="The decision that is replaced.", extra=ARGUMENT)]
    new_id: Annotated[str, Meta(description="The accepted decision that replaces it.", extra=ARGUMENT)]


class SupersedeAnswer(msgspec.Struct, kw_only=True):
    old: Envelope
    new: Envelope


def add(store: Store, ask: AddParams) -> AddAnswer:
    """Write a new proposed decision under the next free number."""
    body = _body(store, ask, "")
    moment = now()
    envelope = Envelope(id="ADR-0000", title="", status="proposed", owner="", created_at=moment, last_updated=moment)
    _set_fields(envelope, ask)
    with store.journal.locked():
        envelope.id = format_id(store.index.current().highest() + 1)
        change = Change()
        create(store, change, envelope, body)
        store.journal.commit(change)
    return AddAnswer(id=envelope.id, path=store.journal.relative(store.home / "proposed" / envelope.id))


def update(store: Store, ask: UpdateParams) -> Envelope:
    """Change fields, sections or the status of one decision; lists replace, an empty list clears."""
    with store.journal.locked():
        decision = store.load(ask.id)
        before = decision.envelope
        after = msgspec.structs.replace(before)
        if before.status == "deleted":
            raise RefusedError(f"{before.id} is deleted and stays as it is", hint="`orbit adr add` a new decision")
        target = ask.status or before.status
        _check_transition(before, target, ask)
        body = _new_body(store, decision, ask)
        _set_fields(after, ask)
        if after == before and body == decision.body and target == before.status:
            return before
        after.status, after.last_updated = target, now()
        if target == "accepted" != before.status:
            after.accepted_at, after.body_digest = after.last_updated, digest(body)
        rows = [_transition(after, before.status, after.related_tasks)] if target != before.status else []
        store.journal.commit(Change(rewrite(store, decision, after, body), rows))
        return after


def supersede(store: Store, ask: SupersedeParams) -> SupersedeAnswer:
    """Link both decisions and retire the old one, in one change."""
    with store.journal.locked():
        old, new = store.load(ask.old_id), store.load(ask.new_id)
        if old.folder == new.folder:
            raise UsageError("a decision cannot supersede itself")
        if old.envelope.superseded_by == new.envelope.id and old.envelope.id in new.envelope.supersedes and old.envelope.status == "superseded":
            return SupersedeAnswer(old=old.envelope, new=new.envelope)
        if old.envelope.status == "superseded":
            current = old.envelope.superseded_by
            raise RefusedError(f"{old.envelope.id} is already superseded by {current}", hint=f"supersede {current} instead")
        if old.envelope.status == "deleted":
            raise RefusedError(f"{old.envelope.id} is deleted", hint="a deleted decision needs no successor")
        if new.envelope.status != "accepted":
            way = f"accept it first: `orbit adr update {new.envelope.id} --status accepted --task TASK`"
            hint = way if new.envelope.status == "proposed" else "name an accepted decision"
            raise RefusedError(f"{new.envelope.id} is {new.envelope.status}, and only an accepted decision supersedes", hint=hint)
        moment = now()
        retired = msgspec.structs.replace(old.envelope, status="superseded", superseded_by=new.envelope.id, last_updated=moment)
        successor = msgspec.structs.replace(new.envelope, supersedes=tidy([*new.envelope.supersedes, old.envelope.id]), last_updated=moment)
        row = _transition(retired, old.envelope.status, successor.related_tasks, superseded_by=successor.id)
        store.journal.commit(Change([*rewrite(store, old, retired, old.body), *rewrite(store, new, successor, new.body)], [row]))
        return SupersedeAnswer(old=retired, new=successor)


def create(store: Store, change: Change, envelope: Envelope, body: str, **more: str) -> None:
    """Add to `change` what writes a new decision."""
    folder = store.home / envelope.status / envelope.id
    change.steps += [store.journal.write_step(folder / BODY, body), store.journal.write_step(folder / ENVELOPE, encode(envelope, {}))]
    change.rows.append(_transition(envelope, None, envelope.related_tasks, **more))


def rewrite(store: Store, decision: Decision, after: Envelope, body: str) -> list[Step]:
    """The steps that turn `decision` into `after` with `body`, moving its folder if status or id changed."""
    source, target = store.home / decision.folder, store.home / after.status / after.id
    steps: list[Step] = [Move(store.journal.relative(source), store.journal.relative(target))] if source != target else []
    steps.append(store.journal.write_step(target / ENVELOPE, encode(after, decision.unknown), source / ENVELOPE))
    if body != decision.body:
        steps.append(store.journal.write_step(target / BODY, body, source / BODY))
    return steps


def _transition(after: Envelope, from_status: str | None, tasks: list[str], **more: str) -> CommandRow:
    """The audit row of one step of a decision's life, with the task that shipped it or its successor."""
    task = next(iter(tasks), None)
    return CommandRow(command="adr.transition", adr_id=after.id, from_status=from_status, to_status=after.status, task_id=task, arguments=dict(more))


def _set_fields(envelope: Envelope, ask: AddParams | UpdateParams) -> None:
    for name in ("title", "owner", "related_features", "related_tasks", "tags", "paths"):
        value = getattr(ask, name)
        if value is not None:
            setattr(envelope, name, value.strip() if isinstance(value, str) else tidy(value, lower=name == "tags"))
    check(envelope)


def _check_transition(before: Envelope, target: Status, ask: UpdateParams) -> None:
    if target == before.status:
        return
    if target == "superseded":
        raise RefusedError(f"{before.id} cannot be set to superseded directly", hint=f"`orbit adr supersede {before.id} NEW` links both sides")
    if before.status == "superseded":
        hint = "`orbit adr add` a new decision and supersede the current one"
        raise RefusedError(f"{before.id} is superseded by {before.superseded_by}, which is final", hint=hint)
    if target == "proposed":
        hint = f"`orbit adr add` one that explains the reversal, then `orbit adr supersede {before.id} NEW`"
        raise RefusedError(f"{before.id} is accepted and cannot go back to proposed", hint=hint)
    if target == "deleted" and before.status == "accepted":
        raise RefusedError(f"{before.id} is accepted and cannot be deleted", hint=f"`orbit adr supersede {before.id} NEW`")
    if target == "accepted" and not tidy(ask.related_tasks or []):
        raise RefusedError(f"accepting {before.id} needs the task that shipped it", hint=f"`orbit adr update {before.id} --status accepted --task TASK`")


def _new_body(store: Store, decision: Decision, ask: UpdateParams) -> str:
    envelope = decision.envelope
    body = _body(store, ask, decision.body)
    if envelope.status != "proposed" and (body != decision.body or (ask.title is not None and ask.title.strip() != envelope.title)):
        hint = f"`orbit adr update {envelope.id} --addendum TEXT`, or supersede it by a new decision"
        raise RefusedError(f"{envelope.id} is {envelope.status}: its title and body no longer change", hint=hint)
    if ask.addendum is None:
        return body
    if not ask.addendum.strip():
        raise UsageError("addendum is empty")
    return f"{body.rstrip()}\n\n{ADDENDUM} {now()[:10]}\n\n{ask.addendum.strip()}\n"


def _body(store: Store, ask: AddParams | UpdateParams, body: str) -> str:
    sections = {name: text for name in SECTIONS if (text := getattr(ask, name)) is not None}
    if ask.body_file is None:
        return replace_sections(body, sections) if body else compose(sections)
    if sections:
        raise UsageError("give either sections or --body-file, not both")
    try:
        text = (store.workspace.root / ask.body_file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {ask.body_file}: {error}") from None
    return text if text.endswith("\n") else text + "\n"
