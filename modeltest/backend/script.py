"""Scripts: what the backend answers, as values.

A `Response` is a status, headers and a tuple of steps. A step is anything with
`play(stage)`; those here cover every way a body can be sent and can end.
"""

from __future__ import annotations

import itertools
import selectors
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from modeltest.backend.progress import Progress
from modeltest.backend.stage import Stage


class Framing(StrEnum):
    """How the body is delimited."""

    CHUNKED = "chunked"
    LENGTH = "length"
    """By Content-Length."""
    CLOSE = "close"
    """By the end of the connection, as in HTTP/1.0."""


class Step(Protocol):
    """One thing the backend does while it answers."""

    def play(self, stage: Stage) -> None:
        """Do it."""
        ...


@dataclass(frozen=True)
class Send:
    """Write body bytes.

    Attributes:
        data: the bytes.
        cuts: offsets at which they are cut; each piece is one write, and one chunk.
        events: how many whole events they end, for the record.
    """

    data: bytes
    cuts: tuple[int, ...] = ()
    events: int = 0

    def play(self, stage: Stage) -> None:
        """Write each piece."""
        edges = (0, *self.cuts, len(self.data))
        for start, stop in itertools.pairwise(edges):
            stage.write(self.data[start:stop])
        stage.count_events(self.events)


@dataclass(frozen=True)
class Repeat:
    """Send `make(0)`, `make(1)`, … without end.

    Attributes:
        make: gives the i-th event's bytes.
        interval: seconds between two events.
        first: the first i.
    """

    make: Callable[[int], bytes]
    interval: float = 0.005
    first: int = 0

    def play(self, stage: Stage) -> None:
        """Send until the peer leaves or the backend stops."""
        index = self.first
        while True:
            stage.write(self.make(index))
            stage.count_events(1)
            stage.pause(self.interval)
            index += 1


@dataclass(frozen=True)
class Flood:
    """Send `make(0)`, `make(1)`, … as fast as the peer takes them, up to a limit.

    While the peer takes nothing, `Exchange.blocked` counts the moments.

    Attributes:
        make: gives the i-th event's bytes.
        limit: body bytes after which it stalls.
    """

    make: Callable[[int], bytes]
    limit: int

    def play(self, stage: Stage) -> None:
        """Send until the limit is reached, then stall."""
        stage.shrink_send_buffer()
        index = 0
        with selectors.DefaultSelector() as selector:
            selector.register(stage.socket, selectors.EVENT_WRITE)
            while stage.exchange.sent_bytes < self.limit:
                if not selector.select(0.01):
                    stage.count_blocked()
                    continue
                stage.write(self.make(index))
                stage.count_events(1)
                index += 1
        stage.wait(lambda: False)


@dataclass(frozen=True)
class Pause:
    """Do nothing for so many seconds."""

    seconds: float

    def play(self, stage: Stage) -> None:
        """Wait, but notice the peer's leaving at once."""
        stage.pause(self.seconds)


@dataclass(frozen=True)
class Await:
    """Wait until the consumer has taken `count` events.

    Attributes:
        progress: the consumer's.
        count: how many.
        at_most: seconds after which the script goes on all the same; None waits on.
    """

    progress: Progress = field(repr=False)
    count: int
    at_most: float | None = None

    def play(self, stage: Stage) -> None:
        """Wait for the consumer, the peer's leaving or the backend's end."""
        self.progress.listen(stage.exchange.wake)
        try:
            stage.wait(lambda: self.progress.count >= self.count, self.at_most)
        finally:
            self.progress.unlisten(stage.exchange.wake)


@dataclass(frozen=True)
class Stall:
    """Say nothing more and keep the connection open, until the peer leaves."""

    def play(self, stage: Stage) -> None:
        """Wait for the peer's leaving or the backend's end."""
        stage.wait(lambda: False)


@dataclass(frozen=True)
class End:
    """End the body as its framing demands: the last chunk, or the end of the connection."""

    def play(self, stage: Stage) -> None:
        """End it."""
        stage.end()


@dataclass(frozen=True)
class Close:
    """Close the connection, whatever the framing still promises (FIN)."""

    def play(self, stage: Stage) -> None:
        """Close it."""
        stage.close()


@dataclass(frozen=True)
class CloseInsideChunk:
    """Announce a chunk, send only its beginning `data`, and close (FIN)."""

    data: bytes = b"d"
    missing: int = 16

    def play(self, stage: Stage) -> None:
        """Send the half chunk and close."""
        stage.write_raw(b"%x\r\n%b" % (len(self.data) + self.missing, self.data))
        stage.close()


@dataclass(frozen=True)
class Reset:
    """Reset the connection (RST). The peer's kernel then drops what it has not yet read."""

    def play(self, stage: Stage) -> None:
        """Reset it."""
        stage.reset()


@dataclass(frozen=True)
class SendHead:
    """Write the status line and headers; the backend plays it before a response's steps."""

    data: bytes

    def play(self, stage: Stage) -> None:
        """Write them."""
        stage.write_raw(self.data)


@dataclass(frozen=True)
class Response:
    """The script for one request.

    Attributes:
        steps: what is done once the head is sent. When they are over and did not end the
            body themselves, it is ended as its framing demands.
        status: HTTP status.
        content_type: the Content-Type header, or None for none.
        headers: more headers.
        framing: how the body is delimited.
        length: with `Framing.LENGTH`, the Content-Length to claim; None means the true one.
        before: steps played before the status line.
    """

    steps: tuple[Step, ...] = ()
    status: int = 200
    content_type: str | None = "text/event-stream"
    headers: tuple[tuple[str, str], ...] = ()
    framing: Framing = Framing.CHUNKED
    length: int | None = None
    before: tuple[Step, ...] = ()

    def body_length(self) -> int:
        """The Content-Length to claim, in bytes."""
        if self.length is not None:
            return self.length
        return sum(len(step.data) for step in self.steps if isinstance(step, Send))


def writes(data: bytes, size: int) -> Send:
    """Return the step that sends `data` in writes of `size` bytes."""
    return Send(data, cuts=tuple(range(size, len(data), size)))


def events(pieces: Iterable[bytes]) -> tuple[Send, ...]:
    """Return the steps that send each event in a write of its own."""
    return tuple(Send(piece, events=1) for piece in pieces)
