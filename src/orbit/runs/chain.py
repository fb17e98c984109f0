"""Links the lines of a stream: `seq`, `prev_hash`, and `hash` over the canonical JSON of everything but `hash`.

Canonical JSON: UTF-8, keys sorted at every depth, no white space. A line on disk is compact JSON in reading order, `hash` last.
This makes a change evident to whoever holds a later hash; it cannot stop one.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

GENESIS = "0" * 64  # what the first line of a stream follows
LINE = msgspec.json.Encoder()
CANONICAL = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(dict[str, Any])


def digest_of(record: dict[str, Any], *, without: str = "hash") -> str:
    """SHA-256 of the canonical JSON of `record`, one key left out."""
    return hashlib.sha256(CANONICAL.encode({key: value for key, value in record.items() if key != without})).hexdigest()


def seal(record: dict[str, Any], seq: int, prev_hash: str) -> tuple[bytes, str]:
    """The line that puts `record` at place `seq` after `prev_hash`, and its own hash."""
    linked = {**record, "seq": seq, "prev_hash": prev_hash}
    digest = hashlib.sha256(CANONICAL.encode(linked)).hexdigest()
    linked["hash"] = digest
    return LINE.encode(linked) + b"\n", digest


def parse(line: bytes) -> dict[str, Any] | None:
    """The record of one line, or None if it is torn or foreign."""
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def is_untouched(line: bytes, record: dict[str, Any]) -> bool:
    """Whether the line is what was sealed: its hash holds, and no byte hides behind parsing (repeated keys, white space)."""
    try:
        return record.get("hash") == digest_of(record) and LINE.encode(record) == line
    except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError):
        return False
