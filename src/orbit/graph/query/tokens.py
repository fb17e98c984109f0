"""How many tokens a text costs: estimated from its bytes, or counted by a tokenizer that an installed package offers.

A tokenizer is an entry point of group `orbit.tokenizers`: a function from text to a number of tokens. `[graph] tokenizer` of the configuration
names one. Only installed packages are asked, so a cloned repository cannot make Orbit run code of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from orbit.errors import UsageError

BYTES_PER_TOKEN = 4
ESTIMATE = "estimate: bytes / 4"
GROUP = "orbit.tokenizers"

Count = Callable[[str], int]


def estimate(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def find_counter(name: str | None) -> tuple[str, Count]:
    """(how it counts, the function) for a configured tokenizer; the estimate when none is."""
    if not name:
        return ESTIMATE, estimate
    from importlib.metadata import entry_points  # costs a tenth of a command's start

    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        known = ", ".join(sorted(point.name for point in entry_points(group=GROUP))) or "none"
        raise UsageError(f"no installed package offers a tokenizer {name!r}", hint=f"installed: {known}; without `[graph] tokenizer` tokens are estimated")
    load: Count = found[0].load()
    return f"tokenizer: {name}", load
