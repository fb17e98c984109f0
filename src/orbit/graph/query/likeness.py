"""How like a change a test file is: by its name, and by the names and strings both mention. Says nothing about whether one reaches the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from math import fsum, log

_STEM = re.compile(r"^(?:test_|Test)?(.*?)(?:_test|_spec|\.test|\.spec|Tests?|IT)?$")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLURAL = re.compile(r"(ies?|y)$|(?<!s)s$")
_SHORTEST = 3  # letters of a word that says something
PAGE, LENGTH_POWER = 400, 0.3  # bytes; long files mention much
NAME_WEIGHT = 2.0  # of a name like that of the change, against what is mentioned. These three were chosen on the commits of docs/context.md


def words(name: str) -> frozenset[str]:
    """The words of a camelCase or snake_case name, small, and the same whether there is one of a thing or many."""
    return frozenset(_one(word.lower()) for word in _WORDS.findall(name))


def _one(word: str) -> str:
    return _PLURAL.sub(lambda match: "i" if match[1] else "", word) if len(word) > _SHORTEST else word


def stem_words(path: str) -> frozenset[str]:
    """The words of a file's name without extension and without the marks of a test."""
    match = _STEM.match(path.rpartition("/")[2].rpartition(".")[0])
    found = words(match[1]) if match else frozenset[str]()
    return found if any(len(word) >= _SHORTEST for word in found) else frozenset()


class Change:
    """What a change is called: the paths of its code and the names of its symbols and of the types they are in."""

    def __init__(self, paths: Collection[str], names: Collection[str]) -> None:
        self.files = [(stem, words(path)) for path in paths if (stem := stem_words(path))]
        self.names = {words(name) for name in names}

    def names_file(self, test: str) -> bool:
        """Is a test file named after a changed file (with folders or without), or after a changed symbol?"""
        mine = stem_words(test)
        return bool(mine) and (mine in self.names or any(stem <= mine <= whole for stem, whole in self.files))

    def resembles(self, test: str) -> int:
        """2 where one name holds the words of the other, 1 where words begin alike, else 0."""
        mine = stem_words(test)
        if not mine:
            return 0
        if any(mine <= name for name in self.names) or any(mine <= stem or stem <= mine for stem, _ in self.files):
            return 2
        begun = (min(one, other, key=len) for stem, _ in self.files for one in stem for other in mine if one.startswith(other) or other.startswith(one))
        return int(any(len(word) >= _SHORTEST for word in begun))


def shared(mentions: Mapping[int, Mapping[int | str, int]], sizes: Mapping[int, int]) -> dict[int, float]:
    """For each file how much it mentions of what a change mentions. Names that few of the files mention count most, long files have to mention more."""
    spread = Counter(name for counts in mentions.values() for name in counts)
    rarity = {name: 0.1 + log(len(mentions) / number) for name, number in spread.items()}
    return {
        file: fsum(rarity[name] * (1 + log(count)) for name, count in counts.items()) / (1 + sizes[file] / PAGE) ** LENGTH_POWER
        for file, counts in mentions.items()
    }
