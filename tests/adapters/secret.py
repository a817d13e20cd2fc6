"""The API key is in no error: neither in its words, nor in those of what caused it."""

from __future__ import annotations

import traceback
from types import TracebackType
from typing import Self, TypeVar

from modeltest import ModelError

_E = TypeVar("_E", bound=ModelError)


def without_secret(text: str, secret: str) -> str:
    """Return `text` with something else in the secret's place."""
    return text.replace(secret, "[the API key]") if secret else text


class Caught:
    """Stops errors of these types at the end of its block, to be raised as others after it.

    HTTP libraries quote what they cannot read, and that may be anything. An error that is
    raised within an `except` block has what was caught there as its context, for good; one
    that is raised after this block has it as its cause, if it may be seen.
    """

    def __init__(self, *kinds: type[Exception]) -> None:
        self._kinds = kinds
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if isinstance(exc, self._kinds):
            self.error = exc
        return self.error is not None

    def failure(self, kind: type[_E], what: str, secret: str) -> _E:
        """Return an error of this kind, its cause what was caught unless that repeats `secret`."""
        # Let go of it: its traceback holds the frame that holds this object.
        cause, self.error = self.error, None
        failure = kind(without_secret(f"{what}: {type(cause).__name__}: {cause}", secret))
        shown = "".join(traceback.format_exception(cause))
        if not (secret and secret in shown):
            failure.__cause__ = cause
        return failure
