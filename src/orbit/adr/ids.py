"""What an ADR id looks like. The string is the id: `ADR-0042` stays `ADR-0042` when numbers outgrow four digits."""

from __future__ import annotations

import re

ID = re.compile(r"ADR-\d{4,}")
CITATION = re.compile(r"\[(ADR-\d{4,})\]")


def format_id(number: int) -> str:
    return f"ADR-{number:04d}"


def number_of(adr_id: str) -> int:
    return int(adr_id[4:])


def is_id(text: str) -> bool:
    return ID.fullmatch(text) is not None
