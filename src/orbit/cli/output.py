"""What leaves the command line: answers on stdout, errors on stderr, the exit code. The only file that prints."""

from __future__ import annotations

import json
import shutil
import sys
import time
from io import TextIOWrapper
from typing import Any, BinaryIO, NoReturn

import msgspec

from orbit.config import allows_colour
from orbit.errors import OrbitError


def emit(answer: Any, *, as_json: bool, form: str | None = None) -> None:
    """Print an answer: one JSON document, text for people, or as a picture in the form asked for."""
    if as_json:
        write(_json(answer))
    elif form is not None:
        from orbit.present.picture import FORMS

        write(FORMS[form](answer))
    else:
        from orbit.present import render

        write(render(answer, colour=sys.stdout.isatty() and allows_colour()))


def fail(error: OrbitError, *, as_json: bool) -> NoReturn:
    if as_json:
        _say(_error_json(error))
    else:
        sys.stderr.write(f"error: {error.message}\n")
        hint, candidates = error.hint, error.candidates
        if hint and hint.startswith("did you mean"):  # the same names: said once
            hint, candidates = (hint, []) if len(candidates) < 2 else ("did you mean one of these?", candidates)
        for candidate in candidates:
            sys.stderr.write(f"  {candidate}\n")
        if hint:
            sys.stderr.write(f"hint: {hint}\n")
    raise SystemExit(error.exit_code)


def speak_any_name() -> None:
    """A stream of few characters gets the others as escapes: a name is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _json(value: Any) -> bytes:
    """A line of JSON: UTF-8 wherever it goes, with `?` for bytes that were no text."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"


def _say(line: bytes) -> None:
    sys.stderr.flush()
    sys.stderr.buffer.write(line)
    sys.stderr.flush()


def _error_json(error: OrbitError) -> bytes:
    body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    if error.candidates:
        body["candidates"] = error.candidates
    return _json({"error": body})


def remark(answer: Any) -> None:
    """Print an answer beside a command's own output, on stderr."""
    from orbit.present import render

    sys.stderr.write(render(answer, colour=sys.stderr.isatty() and allows_colour()))


def terminal(*, as_json: bool) -> tuple[BinaryIO, BinaryIO]:
    """Where the output of a recorded command goes; with --json stdout is for the answer alone."""
    return (sys.stderr.buffer, sys.stderr.buffer) if as_json else (sys.stdout.buffer, sys.stderr.buffer)


def write(content: str | bytes) -> None:
    """Pass content on as it is."""
    try:
        if isinstance(content, bytes):
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader (head, less) has seen enough
        sys.stderr.close()
        raise SystemExit(0) from None


class ProgressBar:
    """One line on stderr, on a terminal only, drawn when work has gone on for a while; gone when it ends."""

    WIDTH, PATIENCE_SECONDS, EVERY_SECONDS = 30, 0.4, 0.08

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._started = time.monotonic()
        self._drawn_at = 0.0

    def __enter__(self) -> Any:
        return self._draw if self._is_shown else None

    def __exit__(self, *_: object) -> None:
        if self._drawn_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _draw(self, stage: str, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self._started < self.PATIENCE_SECONDS or now - self._drawn_at < self.EVERY_SECONDS:
            return
        self._drawn_at = now
        filled = self.WIDTH * done // of if of else self.WIDTH
        sys.stderr.write(f"\r\x1b[K{stage:<8} [{'#' * filled}{'.' * (self.WIDTH - filled)}] {done}/{of}")
        sys.stderr.flush()


class StatusLine:
    """What a long-lived command reports: JSON lines, or text; on a terminal one line that is written over."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._is_live = not as_json and sys.stdout.isatty()

    def __enter__(self) -> StatusLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_live:
            write("\n")

    def show(self, answer: Any, text: str) -> None:
        if self._as_json and isinstance(answer, OrbitError):
            _say(_error_json(answer))
        elif self._as_json:
            write(_json(answer))
        else:
            stamped = f"{time.strftime('%H:%M:%S')} {text}"
            width = shutil.get_terminal_size().columns - 1  # what wraps cannot be written over
            write(f"\r\x1b[K{stamped[:width]}" if self._is_live else f"{stamped}\n")
