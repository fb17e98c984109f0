"""Packs, histories and the impact of diffs as text. A pack is Markdown: it is made to be pasted."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from orbit.graph.query.pack_text import entry_markdown
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


RENDERERS = {"PackAnswer": pack, "HistoryAnswer": history}
