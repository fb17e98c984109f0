"""A question as a method: its arguments are the fields of the question's params struct, the one definition of their names, types and defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import msgspec

from orbit.errors import UsageError

if TYPE_CHECKING:
    from typing import Concatenate

P = ParamSpec("P")
Params = TypeVar("Params", bound=msgspec.Struct)
Handle = TypeVar("Handle")
Answer = TypeVar("Answer")


def as_method(params: Callable[P, Params], question: Callable[[Handle, Params], Answer]) -> Callable[Concatenate[Handle, P], Answer]:
    """`question` with its params given as arguments. They are checked as those of the command line are; None stands for the default."""

    def ask(handle: Handle, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        made = params(*args, **kwargs)
        try:
            asked = msgspec.convert({name: value for name, value in msgspec.structs.asdict(made).items() if value is not None}, type(made))
        except msgspec.ValidationError as error:
            raise UsageError(str(error)) from None
        return question(handle, asked)

    ask.__doc__ = question.__doc__
    return ask
