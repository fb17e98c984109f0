"""Packs, histories and the impact of diffs as text. A pack is Markdown: it is made to be pasted."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from orbit.graph.query.pack_text import entry_markdown
from orbit.present.text import plain


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


RENDERERS = {"PackAnswer": pack}
