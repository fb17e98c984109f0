"""Names like one that is not there: what a person who mistyped may have meant. Looks at names that share a beginning or a word, never at all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

import apsw

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_POOL = 400  # names looked at for each way to be alike
_ENOUGH = 0.6


def words(text: str) -> list[str]:
    """The words of a text, camelCase and snake_case taken apart, in lower case."""
    return [word.lower() for word in _WORDS.findall(text)]


def quoted(term: str) -> str:
    """A term as full-text search takes it literally."""
    return '"' + term.replace('"', '""') + '"'


def near_names(db: apsw.Connection, name: str, count: int = 5) -> list[str]:
    """Up to `count` names of symbols like `name`, best first."""
    last = re.split(r"[.:#/\s]+", name.strip().rstrip(".:#/"))[-1]
    parts = words(last)
    if not parts:
        return []
    patterns = [f"{{name parts}} : {quoted(parts[0][:3])} *"]
    patterns += [f"{{name parts}} : {quoted(part)}" for part in sorted(parts, key=len, reverse=True)[:3] if len(part) > 2]
    patterns += [f"{{name parts}} : {quoted(part[:4])} *" for part in parts[1:3] if len(part) > 3]
    pool: dict[str, None] = {}
    for pattern in patterns:
        found = db.execute(
            "SELECT DISTINCT n.value FROM (SELECT rowid AS id FROM symbols_fts WHERE symbols_fts MATCH ? LIMIT ?) f"
            " JOIN symbol s ON s.id = f.id JOIN text n ON n.id = s.name",
            (pattern, _POOL),
        )
        pool.update((row[0], None) for row in found)
    return closest(last, pool, count)


def closest(name: str, pool: Iterable[str], count: int = 5) -> list[str]:
    """Those of a pool that are like `name`, best first; ties by name."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.lower())
    ranked: list[tuple[float, str]] = []
    for candidate in pool:
        matcher.set_seq1(candidate.lower())
        if matcher.real_quick_ratio() >= _ENOUGH and matcher.quick_ratio() >= _ENOUGH and (ratio := matcher.ratio()) >= _ENOUGH:
            ranked.append((-ratio, candidate))
        elif candidate.lower().startswith(name.lower()) and len(name) > 2:
            ranked.append((-_ENOUGH, candidate))
    return [candidate for _, candidate in sorted(ranked)[:count]]
