"""Answers about the graph as text. Renderers are found by the name of the answer's type, so that none of the code behind it is imported."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from orbit.graph.query.pack_text import entry_markdown
from orbit.present import Renderer
from orbit.present.picture import as_dot
from orbit.present.text import BOLD, CONFIDENCE_COLOURS, CYAN, DIM, GREEN, YELLOW, paint, plain, source, table, tree


def _pack(answer: Any, _: bool) -> str:
    text = "".join(entry_markdown(entry) for entry in answer.entries)
    if answer.unresolved:
        text += "### Not in this pack\n\n"
        for left in answer.unresolved:
            near = f" (perhaps {', '.join(f'`{plain(one)}`' for one in left.candidates)})" if left.candidates is not UNSET else ""
            text += f"- `{plain(left.selector)}`: {left.reason}{near}" + (f"; {left.hint}" if left.hint is not UNSET else "") + "\n"
        text += "\n"
    cut = ", cut" if answer.truncated else ""
    return f"{text}<!-- {answer.tokens} of {answer.token_budget} tokens ({answer.token_count}){cut} -->\n"


def _history(answer: Any, colour: bool) -> str:
    text = f"{paint(plain(answer.selector), BOLD, colour)}: {_count(answer.total, 'commit')}\n"
    named: dict[str, list[str]] = {}
    for task in answer.tasks:
        for commit in task.commits:
            named.setdefault(commit.sha, []).append(task.task_id)
    rows = [(paint(one.sha[:10], CYAN, colour), one.date[:10], " ".join(named.get(one.sha, [])) or "-", plain(one.summary)) for one in answer.commits]
    text += table(rows, "  ") + ("cut; --limit shows more\n" if answer.truncated else "")
    text += f"{answer.commits_behind} newer commits are not walked yet\n" if answer.commits_behind else ""
    text += "".join(f"{paint('warning', YELLOW, colour)}: {warning}\n" for warning in answer.warnings)
    return text + "".join(f"note: {note}\n" for note in answer.notes)


def _diff(answer: Any, colour: bool) -> str:
    """What comes before the touched rows when the impact is that of a diff."""
    if answer.changed is UNSET:
        return ""
    text = f"{paint('changed', BOLD, colour)}: {answer.changed_total}\n" + "".join(f"  {plain(one)}\n" for one in answer.changed[:20])
    text += _rest(answer.changed_total, min(20, len(answer.changed)))
    text += f"{paint('tests', BOLD, colour)}: {answer.tests_total}\n"
    text += table([(str(test.distance), test.evidence, plain(test.id)) for test in answer.tests[:30]], "  ")
    text += _rest(answer.tests_total, min(30, len(answer.tests)))
    text += f"  {answer.tests_hidden} more test files are a little like the change; --confidence fuzzy lists them\n" if answer.tests_hidden else ""
    for title, rows in (
        ("decisions", [(one.id, one.status, plain(one.title), "by " + one.via) for one in answer.decisions]),
        ("not seen", [(one.reason, plain(one.path)) for one in answer.unseen]),
        ("no test reaches", [(plain(one),) for one in answer.untested]),
    ):
        text += f"{paint(title, BOLD, colour)}: {len(rows)}\n" + table(rows[:20], "  ") + _rest(len(rows), min(20, len(rows))) if rows else ""
    return text + f"{paint('touched', BOLD, colour)}: {answer.visited_nodes}\n"


def _rest(total: int, shown: int) -> str:
    return f"  … {total - shown} more; --json has them\n" if shown < total else ""


def _where(path: str, line: int, colour: bool) -> str:
    return f"{paint(plain(path), CYAN, colour)}:{line}"


def _sure(confidence: str, colour: bool) -> str:
    return paint(confidence, CONFIDENCE_COLOURS.get(confidence, DIM), colour)


def _count(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def _more(shown: int, total: int) -> str:
    return f"{shown} of {total}; --limit shows more\n" if shown < total else ""


def _sync(answer: Any, colour: bool) -> str:
    changed = f"{_count(answer.files_changed, 'file')} changed, {answer.files_removed} removed"
    head = f"{paint('synced', GREEN, colour)} ({answer.mode}) in {answer.duration_ms} ms: {changed}\n"
    body = f"{_count(answer.files_indexed, 'file')}, {_count(answer.symbols, 'symbol')}, {_count(answer.refs, 'reference')}\n"
    partial = f"{_count(answer.files_partial, 'file')} parsed only in part\n" if answer.files_partial else ""
    skipped = f"left out: {_pairs(answer.files_skipped)}\n" if answer.files_skipped else ""
    return head + body + partial + skipped + (f"note: {answer.message}\n" if answer.message else "")


def _search(answer: Any, colour: bool) -> str:
    if not answer.total:
        near = f"did you mean {', '.join(answer.did_you_mean)}?\n" if answer.did_you_mean else ""
        task = "" if answer.task_id is UNSET else f" in task {plain(answer.task_id)}"
        return f"nothing matches{f' {answer.query!r}' if answer.query else ''}{task}\n{near}"
    rows = []
    for match in answer.matches:
        kind = type(match).__struct_config__.tag
        if kind == "symbol":
            rows.append((paint(match.symbol_kind, DIM, colour), paint(plain(match.qualified), BOLD, colour), _where(match.path, match.line, colour)))
        else:
            label = kind if kind == "string" else match.config_kind
            value = plain(match.value)
            rows.append((paint(label, DIM, colour), value if len(value) <= 60 else value[:59] + "…", _where(match.path, match.line, colour)))
    return table(rows) + _more(len(answer.matches), answer.total)


def _show(answer: Any, colour: bool) -> str:
    name = paint(plain(answer.qualified or answer.path), BOLD, colour)
    head = f"{paint(answer.kind, DIM, colour)} {name}  {_where(answer.path, answer.lines[0], colour)}-{answer.lines[1]}\n"
    text = source(answer.source)
    cut = f"… cut at {len(answer.source.encode())} of {answer.span.end - answer.span.start} bytes; --max-bytes shows more\n" if answer.truncated else ""
    note = f"note: {answer.note}\n" if answer.note is not UNSET else ""
    return head + text + ("" if text.endswith("\n") else "\n") + cut + note + _decisions(answer)


def _decisions(answer: Any) -> str:
    """What governs the thing asked for; nothing unless it was asked."""
    if answer.decisions is UNSET:
        return ""
    rows = [(one.id, one.status, plain(one.title), f"by {one.via}") for one in answer.decisions]
    return "decisions\n" + (table(rows, "  ") or "  none governs it\n")


def _target(target: Any, colour: bool) -> str:
    return f"{paint(target.kind, DIM, colour)} {paint(plain(target.qualified or target.name), BOLD, colour)}  {_where(target.path, target.line, colour)}\n"


def _skipped(answer: Any) -> str:
    hidden = answer.skipped_low_confidence
    return f"{_count(hidden, 'less certain row')} left out; --confidence fuzzy shows {'it' if hidden == 1 else 'them'}\n" if hidden else ""


def _refs(answer: Any, colour: bool) -> str:
    rows = [(ref.kind, _sure(ref.confidence, colour), _where(ref.file, ref.line, colour), "in " + plain(ref.in_)) for ref in answer.refs]
    rows += [(row.kind, _sure(row.confidence, colour), _where(row.file, row.line, colour), "by " + plain(row.from_)) for row in answer.relations]
    none = "" if rows or answer.total else "no known references\n"
    return _target(answer.target, colour) + table(rows, "  ") + none + _more(len(rows), answer.total) + _skipped(answer)


def _callees(answer: Any, colour: bool) -> str:
    rows = [(plain(call.target_qualified or call.target_name), _sure(call.confidence, colour), _where(call.file, call.line, colour)) for call in answer.callees]
    none = "" if rows or answer.total else "no known calls\n"
    return _target(answer.target, colour) + table(rows, "  ") + none + _more(len(rows), answer.total) + _skipped(answer)


def _overview(answer: Any, colour: bool) -> str:
    head = f"{paint(plain(answer.scope), BOLD, colour)}: {_count(answer.total_files, 'file')}, {_count(answer.total_symbols, 'symbol')}\n"
    facts = [("languages", _pairs(answer.languages)), ("symbols", _pairs(answer.symbol_kinds))]
    facts += [("partly parsed", str(answer.coverage.partial))] if answer.coverage.partial else []
    facts += [("left out", _pairs(answer.coverage.skipped))] if answer.coverage.skipped else []
    text = head + table([fact for fact in facts if fact[1]], "  ")
    files = [(paint(plain(file.path), CYAN, colour), file.lang, str(file.symbol_count)) for file in answer.files]
    if all(file.symbols is UNSET for file in answer.files):
        return text + table(files, "  ") + _more(len(files), answer.total_files)
    for file in answer.files:
        text += f"{paint(plain(file.path), CYAN, colour)}\n"
        text += table([(str(symbol.line), paint(symbol.kind, DIM, colour), plain(symbol.qualified)) for symbol in file.symbols or ()], "  ")
    return text + ("cut; --limit shows more\n" if answer.truncated else "")


def _implementors(answer: Any, colour: bool) -> str:
    unknown = f"{paint(plain(answer.trait_name), BOLD, colour)}  (not in this graph; matched by name)\n"
    head = _target(answer.target, colour) if answer.target is not None else unknown
    rows = [(row.kind, plain(row.type_qualified), _where(row.file, row.line, colour)) for row in answer.implementors]
    none = "" if rows or answer.total else "no known implementors\n"
    return head + table(rows, "  ") + none + _more(len(rows), answer.total)


def _deps(answer: Any, colour: bool) -> str:
    rows = []
    for row in answer.imports:
        name = plain(row.target_path + (f" {row.target_symbol}" if row.target_symbol else ""))
        leads_to = paint(plain(row.resolved_file), CYAN, colour) if row.resolved_file else paint("outside", DIM, colour)
        rows.append((_where(row.from_file, row.line, colour), name, leads_to))
    none = "" if rows or answer.total else f"no imports in {answer.scope}\n"
    return table(rows) + none + _more(len(rows), answer.total)


def _why(answer: Any, colour: bool) -> str:
    verdict = paint("indexed", GREEN, colour) if answer.indexed else paint("not indexed", YELLOW, colour)
    return f"{plain(answer.path)}: {verdict}" + ("" if answer.indexed else f", {answer.reason}") + (f" ({plain(answer.rule)})" if answer.rule else "") + "\n"


def _init(answer: Any, colour: bool) -> str:
    rows = [(paint("created", GREEN, colour), name) for name in answer.created] + [(paint("kept", DIM, colour), name) for name in answer.kept]
    return f"{answer.root}\n" + table(rows, "  ") + "next: orbit graph sync\n"


def _impact(answer: Any, colour: bool) -> str:
    arrows = {"in": "<-", "out": "->"}
    rows = []
    for row in answer.touched:
        edge = (str(row.distance), arrows.get(row.direction, row.direction), row.edge_kind, _sure(row.confidence, colour))
        rows.append((*edge, plain(row.qualified_name), _where(row.path, row.line, colour)))
    cut = f"cut after {answer.visited_nodes}\n" if answer.truncated else ""
    head = _target(answer.target, colour) if answer.target is not None else _diff(answer, colour)
    governed = _decisions(answer) if answer.target is not None else ""
    failed = f"{paint('failed', YELLOW, colour)}: {', '.join(answer.failed)}, as --fail-on asks\n" if answer.failed else ""
    return head + (table(rows, "  ") or "nothing else is touched, as far as is known\n") + cut + governed + failed


def _trace(answer: Any, colour: bool) -> str:
    if answer.root is None:
        near = getattr(answer, "did_you_mean", None)
        hint = f"did you mean {', '.join(near)}?" if near else "any function can be traced: `orbit graph trace symbol:<path>#<name>`"
        return f"no such command is declared in this worktree\n{hint}\n"

    def text(node: Any) -> str:
        where = f"  {_where(node.file, node.line, colour)}" if node.file else ""
        sure = f"  {_sure(node.confidence, colour)}" if node.confidence else ""
        why = f"  ({node.cut})" if node.cut is not UNSET else ""
        command = f"{plain(node.name)}: " if node is answer.root and node.name != node.qualified_name and not node.name.startswith("symbol:") else ""
        return command + plain(node.qualified_name or "handler not found") + sure + where + why

    return "\n".join(tree(answer.root, text)) + "\n" + (f"cut after {answer.visited_nodes}\n" if answer.truncated else "")


def _fields(answer: Any, colour: bool) -> str:
    """Small answers: a line for each field, lists below."""
    text = ""
    for name, value in msgspec.to_builtins(answer).items():
        if isinstance(value, list):
            text += f"{name}: {len(value)}\n" + "".join(f"  {plain(str(item))}\n" for item in value)
        else:
            text += f"{name}: {plain(str(value))}\n"
    return text


def _pairs(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


_QUESTIONS = (_sync, _search, _show, _refs, _callees, _impact, _trace, _overview, _implementors, _deps, _init, _pack, _history)
RENDERERS: dict[str, Renderer] = {f"{question.__name__[1:].capitalize()}Answer": question for question in _QUESTIONS} | {
    "Why": _why,
    "DigestAnswer": lambda answer, _: f"{answer.digest}\n",
    "PictureAnswer": lambda answer, _: as_dot(answer),
}


def render(answer: Any, colour: bool) -> str:
    text = RENDERERS.get(type(answer).__name__, _fields)(answer, colour)
    if getattr(answer, "fresh", True) or getattr(answer, "note", UNSET) is not UNSET:
        return text
    shown = ", ".join(plain(path) for path in answer.stale_files[:3]) + (" …" if len(answer.stale_files) > 3 else "")
    changed = f"{_count(len(answer.stale_files), 'file')} changed since the sync ({shown})"
    return f"{text}{paint('stale', YELLOW, colour)}: {changed}; run `orbit graph sync`\n"
