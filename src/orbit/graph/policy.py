"""When a handle brings the graph up to date by itself."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from orbit.errors import UsageError


class SyncPolicy(msgspec.Struct, frozen=True):
    """`SyncPolicy.MANUAL`: never. `ON_READ`: before every question. `windowed(seconds)`: before a question, when the last sync by this handle is older."""

    kind: Literal["manual", "on_read", "windowed", "watch"]
    seconds: float = 0.0

    MANUAL: ClassVar[SyncPolicy]
    ON_READ: ClassVar[SyncPolicy]

    @classmethod
    def windowed(cls, seconds: float) -> SyncPolicy:
        """At most one sync in so many seconds."""
        if not seconds > 0:
            raise UsageError(f"a window must be longer than nothing, not {seconds}")
        return cls("windowed", seconds)

    @classmethod
    def watch(cls, debounce_ms: int = 250) -> SyncPolicy:
        """Sync when files change, once they have been quiet for so long."""
        return cls("watch", debounce_ms / 1000)


SyncPolicy.MANUAL = SyncPolicy("manual")
SyncPolicy.ON_READ = SyncPolicy("on_read")
