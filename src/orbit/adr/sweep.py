"""Rewrites references to old, per-feature numbers into global citations, where that needs no guess; the rest is reported."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from orbit.adr.citations import prose_spans

FEATURE = r"[a-z0-9]+(?:-[a-z0-9]+)*"
LINK = r"(?:\([^)\s]*4_decisions\.md[^)]*\))?"  # a link to the old page says nothing the citation does not
REFERENCE = re.compile(
    r"(?P<skip>https?://\S+|\]\([^)]*\)|\[\[[^\]]*\]\])"
    r"|\b(?P<word>[Aa]fter|[Ss]ince|[Ff]ollowing|[Aa]s of)\s+\[(?P<task>T\d[\w-]*)\]"
    rf"|\[(?P<there>{FEATURE})/(?P<there_id>ADR-\d+)\]{LINK}"
    rf"|\[(?P<here_id>ADR-\d+)\]{LINK}"
    rf"|(?<![\w./#\[-])(?P<far>{FEATURE})/(?P<far_id>ADR-\d+)(?!\w|-\w|/)"
    r"|(?<![\w./#\[-])(?P<bare_id>ADR-\d+)(?!\w|-\w|/)"
)


class Unresolved(msgspec.Struct, frozen=True):
    """A reference left as it is: where, what, why."""

    file: str
    line: int
    text: str
    reason: str


class Numbers(msgspec.Struct):
    """What the old numbers have become."""

    local: Mapping[tuple[str, int], list[str]]  # (feature, number) -> ids; more than one when a page used a number twice
    fresh: set[tuple[str, str]]  # (feature, id text) of entries read in this run: there a long number is local too
    tasks: Mapping[str, list[str]]  # task -> ids of the decisions that name it


class Sweep:
    """One run over many texts."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.rewritten = 0
        self.unresolved: list[Unresolved] = []

    def text(self, text: str, feature: str | None, file: str, line: int | None = None) -> str:
        """`text` rewritten; `line` stands for all of it when it is only part of `file`."""
        parts, at = [], 0
        for start, end in list(prose_spans(text)):
            for match in REFERENCE.finditer(text, start, end):
                new, reason = self._answer(match, feature)
                if reason is not None:
                    number = line if line is not None else text.count("\n", 0, match.start()) + 1
                    self.unresolved.append(Unresolved(file, number, match[0], reason))
                if new is not None and new != match[0]:
                    parts += [text[at : match.start()], new]
                    at = match.end()
                    self.rewritten += 1
        return "".join([*parts, text[at:]])

    def _answer(self, match: re.Match[str], feature: str | None) -> tuple[str | None, str | None]:
        """(replacement, reason why there is none); both None: not a reference to an old number."""
        if match["skip"]:
            return None, None
        if match["task"]:
            return self._task(match["word"], match["task"])
        if far := match["there"] or match["far"]:
            return self._lookup(far, match["there_id"] or match["far_id"])
        local_id = match["here_id"] or match["bare_id"]
        if len(local_id) >= 8 and (feature or "", local_id) not in self.numbers.fresh:
            return None, None  # four digits: a global id already
        if feature is None or (feature, int(local_id[4:])) not in self.numbers.local:
            others = sorted(f"{other}/{local_id}" for other, number in self.numbers.local if number == int(local_id[4:]))
            where = f"{feature} has no {local_id}" if feature else "outside any feature folder"
            return None, f"{where}; say which: {', '.join(others)}" if others else f"{where}, nor has any feature"
        return self._lookup(feature, local_id)

    def _lookup(self, feature: str, local_id: str) -> tuple[str | None, str | None]:
        ids = self.numbers.local.get((feature, int(local_id[4:])), [])
        if len(ids) == 1:
            return f"[{ids[0]}]", None
        return None, f"{feature} uses {local_id} for {', '.join(ids)}" if ids else f"{feature} has no {local_id}"

    def _task(self, word: str, task: str) -> tuple[str | None, str | None]:
        ids = self.numbers.tasks.get(task, [])
        if len(ids) == 1:
            return f"{'Per' if word[0].isupper() else 'per'} [{ids[0]}]", None
        return None, f"{task} shipped {', '.join(ids)}" if ids else f"no decision names {task}"
