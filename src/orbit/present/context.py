"""Packs, histories and the impact of diffs as text. A pack is Markdown: it is made to be pasted."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from orbit.graph.query.pack_text import entry_markdown
from orbit.present.picture import as_dot
from orbit.present.text import BOLD, CYAN, YELLOW, paint, plain, table


def pack(answer: Any, _: bool) -> str:
    text = "".join(entry_markdown(entry) for entry in answer.entries)
    if answer.unresolved:
        text += "### Not in this pack\n\n"
        for left in answer.unresolved:
            near = f" (perhaps {', '.join(f'`{plain(one)}`' for one in left.candidates)})" if left.candidates is not UNSET else ""
            text += f"- `{plain(left.selector)}`: {left.reason}{near}" + (f"; {left.hint}" if left.hint is not UNSET else "") + "\n"
        text += "\n"
    cut = ", cut" if answer.truncated else ""
    return f"{text}<!-- {answer.tokens} of {answer.token_budget} tokens ({answer.token_count}){cut} -->\n"


def history(answer: Any, colour: bool) -> str:
    text = f"{paint(plain(answer.selector), BOLD, colour)}: {answer.total} commit{'' if answer.total == 1 else 's'}\n"
    named: dict[str, list[str]] = {}
    for task in answer.tasks:
        for commit in task.commits:
            named.setdefault(commit.sha, []).append(task.task_id)
    rows = [(paint(one.sha[:10], CYAN, colour), one.date[:10], " ".join(named.get(one.sha, [])) or "-", plain(one.summary)) for one in answer.commits]
    text += table(rows, "  ") + ("cut; --limit shows more\n" if answer.truncated else "")
    text += f"{answer.commits_behind} newer commits are not walked yet\n" if answer.commits_behind else ""
    text += "".join(f"{paint('warning', YELLOW, colour)}: {warning}\n" for warning in answer.warnings)
    return text + "".join(f"note: {note}\n" for note in answer.notes)


def diff(answer: Any, colour: bool) -> str:
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


RENDERERS = {"PackAnswer": pack, "HistoryAnswer": history, "PictureAnswer": lambda answer, _: as_dot(answer)}
