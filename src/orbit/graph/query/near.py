"""Names like one that is not there: what a person who mistyped may have meant. Looks at names one slip away and at names that share a beginning or
a word, never at all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

import apsw

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_POOL = 80  # names looked at for each way to be alike
_ENOUGH = 0.6
_SHORT = 5  # letters; of longer names the beginning is enough to find what has a letter too many, too few or another one
_LONGEST = 64  # letters in which a swap is looked for
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def words(text: str) -> list[str]:
    """The words of a text, camelCase and snake_case taken apart, in lower case."""
    return [word.lower() for word in _WORDS.findall(text)]


def quoted(term: str) -> str:
    """A term as full-text search takes it literally."""
    return '"' + term.replace('"', '""') + '"'


def near_names(db: apsw.Connection, name: str, count: int = 5) -> list[str]:
    """Up to `count` names of symbols like `name`, best first."""
    last = re.split(r"[.:#/\s]+", name.strip().rstrip(".:#/"))[-1]
    pool: dict[str, None] = {}
    for pattern in _patterns(last):
        found = db.execute(
            "SELECT n.value FROM (SELECT rowid AS id FROM symbols_fts WHERE symbols_fts MATCH ? LIMIT ?) f"
            " JOIN symbol s ON s.id = f.id JOIN text n ON n.id = s.name",
            (pattern, _POOL),
        )
        pool.update((row[0], None) for row in found)
        if len(pool) > _POOL:
            break
    return closest(last, pool, count)


def _patterns(name: str) -> Iterator[str]:
    """Ever looser: one slip, long beginnings, all words but one, single words, short beginnings."""
    token, parts = "".join(re.findall(r"\w", name)), words(name)[:8]
    if slips := _slips(token.lower()[:_LONGEST]):
        yield f"name : ({' OR '.join(map(quoted, slips))})"
    for length in dict.fromkeys((len(token) - 1, len(token) - 2, len(token) * 2 // 3)):
        if length > 2:
            yield f"name : {quoted(token[:length])} *"
    if len(parts) > 1:
        for left_out in range(len(parts)):
            yield "parts : (" + " AND ".join(quoted(part) for at, part in enumerate(parts) if at != left_out) + ")"
    for part in sorted(parts, key=len, reverse=True):
        if len(part) > 2:
            yield f"{{name parts}} : {quoted(part)}"
    for part in parts[:3]:
        if len(part) > 3:
            yield f"{{name parts}} : {quoted(part[: len(part) // 2 + 1])} *"
    if len(token) > 2:
        yield f"name : {quoted(token[:2])} *"


def _slips(token: str) -> list[str]:
    """The words one slip away: two letters swapped, and in a short word one too many, too few or another."""
    found = _swaps(token)
    if len(token) <= _SHORT:
        for at in range(len(token) + 1):
            found.update(token[:at] + letter + token[end:] for letter in ("", *_LETTERS) for end in (at, at + 1))
    return sorted(found - {token, ""})


def _swaps(token: str) -> set[str]:
    return {token[:at] + token[at + 1] + token[at] + token[at + 2 :] for at in range(len(token) - 1)} - {token}


def closest(name: str, pool: Iterable[str], count: int = 5) -> list[str]:
    """Those of a pool that are like `name`, best first; ties by name."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.lower())
    swaps = _swaps(name.lower()[:_LONGEST])
    ranked: list[tuple[float, str]] = []
    for candidate in pool:
        matcher.set_seq1(candidate.lower())
        if candidate.lower() in swaps:
            ranked.append((-1.0, candidate))
        elif matcher.real_quick_ratio() >= _ENOUGH and matcher.quick_ratio() >= _ENOUGH and (ratio := matcher.ratio()) >= _ENOUGH:
            ranked.append((-ratio, candidate))
        elif candidate.lower().startswith(name.lower()) and len(name) > 2:
            ranked.append((-_ENOUGH, candidate))
    return [candidate for _, candidate in sorted(ranked)[:count]]
