"""Arguments that several questions about runs share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

RunArgument = Annotated[str | None, Meta(description="Run id, or the beginning of one; default: the run that started last.", extra={"cli": {"argument": True}})]
StepOption = Annotated[str | None, Meta(description="Only this step: its id, or its number from 0.", extra={"cli": {"short": "-s"}})]
