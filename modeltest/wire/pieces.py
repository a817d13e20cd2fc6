"""What bodies are put together from: events of the wire before and after they are framed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """What one event of a body is for."""

    START = "start"  # what precedes the content: the assistant's role, the message's id
    TEXT = "text"
    REASONING = "reasoning"
    CALL = "call"
    USAGE = "usage"
    FINISH = "finish"  # names the finish reason
    END = "end"  # the marker after which nothing comes
    ERROR = "error"
    MALFORMED = "malformed"  # an event that is none: broken JSON, a wrong checksum
    OTHER = "other"  # block ends, pings, kinds that an adapter skips


@dataclass(frozen=True, slots=True)
class Broken:
    """A payload whose JSON is cut short; its frame is whole."""

    payload: Mapping[str, Any]


Payload = Mapping[str, Any] | str | bytes | Broken
"""One event before it is framed: a mapping is sent as JSON, a str as it is, and bytes are
already framed."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One event before it is framed; in a script, an event given in the wire's own words.

    Attributes:
        role: what it is for.
        payload: what it holds.
    """

    role: Role
    payload: Payload


def change(
    pieces: Iterable[Piece], role: Role, how: Callable[[Mapping[str, Any]], Payload]
) -> list[Piece]:
    """Return `pieces`, the payloads of those with `role` passed through `how`."""
    return [
        Piece(role, how(piece.payload))
        if piece.role is role and isinstance(piece.payload, Mapping)
        else piece
        for piece in pieces
    ]


@dataclass(frozen=True, slots=True)
class WireError:
    """What the provider says when it fails in mid-stream; in a script, the place where it does.

    Attributes:
        name: what distinguishes this shape from the format's others.
        type: the provider's error type or code; empty where the shape has none.
        message: the provider's words; empty where the shape has none.
        payloads: what is sent, one payload an event, whatever follows the error included.
    """

    name: str
    type: str
    message: str
    payloads: tuple[Payload, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """What must reach the raised error: the type and the message, where there are any."""
        return tuple(word for word in (self.type, self.message) if word)

    def pieces(self) -> Iterator[Piece]:
        """Yield the error, then what follows it."""
        for n, payload in enumerate(self.payloads):
            yield Piece(Role.OTHER if n else Role.ERROR, payload)


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """What the provider answers, in its own shape, when it refuses a request.

    Attributes:
        status: the HTTP status.
        content_type: the media type of `body`.
        body: the response's body.
        words: what must reach the raised error.
    """

    status: int
    content_type: str
    body: bytes
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WirePart:
    """One event of a body.

    Attributes:
        role: what it is for.
        data: its bytes, with all that frames it: the blank line, the LF, the checksums.

    Raises:
        TypeError: `data` is no bytes.
    """

    role: Role
    data: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes):
            raise TypeError(
                f"a body is made of bytes: expected bytes for the {self.role} event, "
                f"got {type(self.data).__name__}: {self.data!r:.80}"
            )
