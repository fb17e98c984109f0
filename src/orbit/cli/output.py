"""What leaves the command line: answers on stdout, errors on stderr, the exit code. The only file that prints."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import msgspec

from orbit.errors import OrbitError


def emit(answer: Any, *, as_json: bool) -> None:
    """Print an answer: one JSON document, or text for people."""
    if as_json:
        _write(msgspec.json.encode(answer).decode() + "\n")
        return
    from orbit.present import render

    _write(render(answer, colour=sys.stdout.isatty()))


def fail(error: OrbitError, *, as_json: bool) -> NoReturn:
    """Print an error and leave with its code."""
    if as_json:
        body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
        if error.candidates:
            body["candidates"] = error.candidates
        sys.stderr.write(msgspec.json.encode({"error": body}).decode() + "\n")
    else:
        sys.stderr.write(f"error: {error.message}\n")
        for candidate in error.candidates:
            sys.stderr.write(f"  {candidate}\n")
        if error.hint:
            sys.stderr.write(f"hint: {error.hint}\n")
    raise SystemExit(error.exit_code)


def emit_bytes(content: bytes) -> None:
    """Pass content on as it is."""
    _write(content)


def say(text: str) -> None:
    """A remark beside the answer."""
    sys.stderr.write(text)


def _write(content: str | bytes) -> None:
    try:
        if isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader (head, less) has seen enough
        sys.stderr.close()
        raise SystemExit(0) from None
