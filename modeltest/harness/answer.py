"""What came of one body, in whichever way it was delivered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from modeltest.encoding import Body
    from modeltest.interface import Event


ErrorTypes = type[BaseException] | tuple[type[BaseException], ...]
"""The exception type, or types, by which a turn may fail."""


class Transcript(Protocol):
    """The events of one stream, and how it ended."""

    @property
    def events(self) -> Sequence[Event]:
        """What was given, in order."""
        ...

    @property
    def error(self) -> BaseException | None:
        """What iterating raised; None if it raised nothing."""
        ...

    @property
    def ended(self) -> bool:
        """Whether iteration ended, in either way."""
        ...

    @property
    def raised_at(self) -> list[str]:
        """The lines that the error came through."""
        ...

    @property
    def text(self) -> str:
        """The text of all text deltas, joined."""
        ...


class Declares(Protocol):
    """Whoever says by which errors a turn may fail."""

    @property
    def model_error(self) -> ErrorTypes:
        """The exception type, or types, by which a turn may fail."""
        ...

    @property
    def package(self) -> str:
        """The top-level package that the adapter comes from."""
        ...


class Asked(Protocol):
    """Whoever knows the requests that were sent."""

    @property
    def requests(self) -> Sequence[str]:
        """The requests, in short."""
        ...

    @property
    def retries(self) -> int:
        """Extra requests that the adapter may send before the first event."""
        ...


@dataclass(frozen=True)
class Answer:
    """What the adapter, or the stream parser, made of a body.

    Attributes:
        body: what was delivered.
        log: the events, and how the stream ended.
        model_error: the exception type, or types, by which a turn may fail.
        package: the top-level package that the adapter comes from.
        retries: extra requests that the adapter may send before the first event.
        requests: the requests that were sent for it, in short; none in memory.
    """

    body: Body
    log: Transcript
    model_error: ErrorTypes
    package: str
    retries: int = 0
    requests: Sequence[str] = ()
