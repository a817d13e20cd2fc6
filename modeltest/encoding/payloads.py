"""What bodies are put together from: payloads with their roles, and the framed parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Unsupported(Exception):  # noqa: N818 - not a fault: a check skips with its reason
    """The format has no way to say this.

    A format raises it where it is asked for something that its provider never sends; a check
    that meets it is skipped, with the reason shown.

    Attributes:
        reason: one sentence's worth of why, such as "Ollama: arguments are sent whole".
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class UsagePlacement(StrEnum):
    """Where a body tells its token counts."""

    AFTER = "after the finish"
    ON = "on the finish"
    BEFORE = "before the finish"
    EVERY = "on every event, growing"


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
class Malformed:
    """A payload whose JSON is cut short; its frame is whole."""

    payload: Mapping[str, Any]


Payload = Mapping[str, Any] | str | bytes | Malformed
"""One event before it is framed: a mapping is sent as JSON, a str as it is, and bytes are
already framed."""


@dataclass(frozen=True, slots=True)
class RolePayload:
    """One event before it is framed; in a script, an event given in the provider's own words.

    Attributes:
        role: what it is for.
        payload: what it holds.
    """

    role: Role
    payload: Payload


def change_payloads(
    payloads: Iterable[RolePayload], role: Role, how: Callable[[Mapping[str, Any]], Payload]
) -> list[RolePayload]:
    """Return `payloads`, those with `role` passed through `how`."""
    return [
        RolePayload(role, how(one.payload))
        if one.role is role and isinstance(one.payload, Mapping)
        else one
        for one in payloads
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

    def in_roles(self) -> Iterator[RolePayload]:
        """Yield the payloads with their roles: the error, then what follows it."""
        for n, payload in enumerate(self.payloads):
            yield RolePayload(Role.OTHER if n else Role.ERROR, payload)


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
