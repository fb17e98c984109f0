"""One child process: output passed on and kept, signals forwarded, a time limit for it and all it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec

_GRACE = 5.0  # seconds between asking a process to end and ending it
_DRAIN = 2.0  # seconds to wait for output after the child has ended: a background process may hold the pipe for ever
TIMED_OUT, NOT_EXECUTABLE, NOT_FOUND = 124, 126, 127


class Sink(Protocol):
    def write(self, chunk: bytes, /) -> object: ...


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """`exit_code` as a shell would say it: 128 + the signal, 124 on time-out, 127 not found, 126 not executable."""

    exit_code: int
    duration_ms: int
    signal: str | None = None
    timed_out: bool = False
    error: str | None = None
    is_output_cut: bool = False  # something still held the pipes open when we stopped listening


class Child:
    """`kept` takes every byte of a stream; `shown`, if given, takes it at the same moment."""

    def __init__(self, argv: list[str], cwd: Path) -> None:
        self.argv, self.cwd = argv, cwd
        self.pid = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []  # signals that came before there was a child to take them
        # Away from a terminal the child leads a group of its own, so that signals and the time limit reach all it starts.
        # At a terminal it must stay in ours, or it could not read from it; the terminal itself then interrupts both.
        self._is_leader = os.name == "posix" and not (sys.stdin is not None and sys.stdin.isatty())

    def start(self) -> Ended | None:
        """None once it runs; otherwise why it does not."""
        try:
            self._process = subprocess.Popen(self.argv, cwd=self.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=self._is_leader)
        except OSError as error:
            code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
            return Ended(exit_code=code, duration_ms=0, error=f"{self.argv[0]}: {error.strerror}")
        self.pid = self._process.pid
        for number in self._early:
            self._send(number)
        return None

    def wait(self, kept: tuple[Sink, Sink], shown: tuple[BinaryIO, BinaryIO] | None, timeout: float | None) -> Ended:
        process = self._process
        assert process is not None and process.stdout is not None and process.stderr is not None
        started = time.perf_counter()
        pumps = []
        for number, pipe in enumerate((process.stdout, process.stderr)):
            pumps.append(threading.Thread(target=_pump, args=(pipe, kept[number], shown[number] if shown else None), daemon=True))
            pumps[-1].start()
        timed_out = not self._ended_within(timeout)
        if timed_out:
            self._send(signal.SIGTERM)
            if not self._ended_within(_GRACE):
                self._send(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        code = process.wait()
        deadline = time.perf_counter() + _DRAIN
        for pump in pumps:
            pump.join(max(0.0, deadline - time.perf_counter()))
        duration_ms = round((time.perf_counter() - started) * 1000)
        name = signal.Signals(-code).name if code < 0 else None
        exit_code = TIMED_OUT if timed_out else 128 - code if code < 0 else code
        return Ended(exit_code=exit_code, duration_ms=duration_ms, signal=name, timed_out=timed_out, is_output_cut=any(pump.is_alive() for pump in pumps))

    def _ended_within(self, timeout: float | None) -> bool:
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)
            return True
        return False

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError, ValueError):  # it has ended in the meantime
            if self._is_leader and sys.platform != "win32":
                os.killpg(self.pid, number)
            elif self._process is not None:
                self._process.send_signal(number)

    @contextmanager
    def forwarding(self) -> Iterator[None]:
        """Signals meant for us go to the child, and how it takes them decides how we end. Around the whole recording: none may cut that short."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [number for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2") if (number := getattr(signal, name, None))]

        def forward(number: int, frame: Any) -> None:
            if self._process is None:
                self._early.append(number)
            elif self._is_leader or number not in (signal.SIGINT, getattr(signal, "SIGQUIT", None)):
                self._send(number)

        before = {number: signal.signal(number, forward) for number in numbers}
        try:
            yield
        finally:
            for number, previous in before.items():
                signal.signal(number, previous if previous is not None else signal.SIG_DFL)


def _pump(pipe: Any, kept: Sink, shown: BinaryIO | None) -> None:
    """A reader of ours that is gone (`| head`) or a full disk must not stop the child."""
    with pipe:
        while chunk := pipe.read1(65536):
            if shown is not None:
                try:
                    shown.write(chunk)
                    shown.flush()
                except (OSError, ValueError):
                    shown = None
            kept.write(chunk)
