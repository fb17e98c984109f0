"""Arguments that several questions about runs share."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class RunParams(msgspec.Struct, kw_only=True):
    run: Annotated[
        str | None, Meta(description="Run id, or the beginning of one; default: the run that started last.", extra={"cli": {"argument": True}})
    ] = None


class StepParams(RunParams, kw_only=True):
    step: Annotated[str | None, Meta(description="Only this step: its id, or its number from 0.", extra={"cli": {"short": "-s"}})] = None
