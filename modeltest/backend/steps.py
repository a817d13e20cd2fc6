"""The steps of a script: every way a body can be sent, and can end.

A step is anything with `run(writer)`.
"""

from __future__ import annotations

import itertools
import selectors
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from modeltest.backend.writer import ResponseWriter
    from modeltest.threads import Progress


_MOMENT = 0.01
"""Seconds; after that long without being able to send, the peer counts as blocked once more."""


_SMALL = 2048
"""Bytes for which there is room where a socket can be written to."""


class Step(Protocol):
    """One thing the backend does while it answers."""

    def run(self, writer: ResponseWriter) -> None:
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

    def run(self, writer: ResponseWriter) -> None:
        """Write each piece."""
        edges = (0, *self.cuts, len(self.data))
        for start, stop in itertools.pairwise(edges):
            writer.write(self.data[start:stop])
        writer.count_events(self.events)


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

    def run(self, writer: ResponseWriter) -> None:
        """Send until the peer disconnects or the backend stops."""
        index = self.first
        while True:
            writer.write(self.make(index))
            writer.count_events(1)
            writer.pause(self.interval)
            index += 1


@dataclass(frozen=True)
class Flood:
    """Send `make(0)`, `make(1)`, … as fast as the peer takes them, up to a limit.

    A large event is sent in several writes, each small enough not to be held up.

    While the peer takes nothing, `Exchange.blocked` counts the moments.

    Attributes:
        make: gives the i-th event's bytes.
        limit: body bytes after which it stalls.
    """

    make: Callable[[int], bytes]
    limit: int

    def run(self, writer: ResponseWriter) -> None:
        """Send until the limit is reached, then stall."""
        writer.shrink_send_buffer()
        indices = itertools.count()
        with selectors.DefaultSelector() as selector:
            selector.register(writer.socket, selectors.EVENT_WRITE)
            while writer.exchange.sent_bytes < self.limit:
                event = self.make(next(indices))
                for start in range(0, len(event), _SMALL):
                    while not selector.select(_MOMENT):
                        writer.count_blocked()
                    writer.write(event[start : start + _SMALL])
                writer.count_events(1)
        writer.exchange.wake()
        Stall().run(writer)


@dataclass(frozen=True)
class Pause:
    """Do nothing for so many seconds."""

    seconds: float

    def run(self, writer: ResponseWriter) -> None:
        """Wait, but notice the peer's disconnect at once."""
        writer.pause(self.seconds)


@dataclass(frozen=True)
class Await:
    """Wait until the consumer has taken `count` events.

    Attributes:
        progress: the consumer's.
        count: how many.
        at_most: seconds after which the script continues all the same; None waits on.
    """

    progress: Progress = field(repr=False)
    count: int
    at_most: float | None = None

    def run(self, writer: ResponseWriter) -> None:
        """Wait for the consumer, the peer's disconnect or the backend's end."""
        with self.progress.subscribe(writer.exchange.wake):
            writer.wait(lambda: self.progress.count >= self.count, self.at_most)


@dataclass(frozen=True)
class Stall:
    """Say nothing more and keep the connection open, until the peer disconnects."""

    def run(self, writer: ResponseWriter) -> None:
        """Wait for the peer's disconnect or the backend's end."""
        writer.wait(lambda: False)


@dataclass(frozen=True)
class End:
    """End the body as its framing demands: the last chunk, or the end of the connection."""

    def run(self, writer: ResponseWriter) -> None:
        """End it."""
        writer.end()


@dataclass(frozen=True)
class Close:
    """Close the connection, whatever the framing still promises (FIN)."""

    def run(self, writer: ResponseWriter) -> None:
        """Close it."""
        writer.close()


@dataclass(frozen=True)
class CloseInsideChunk:
    """Announce a chunk, send only its beginning `data`, and close (FIN)."""

    data: bytes = b"d"
    missing: int = 16

    def run(self, writer: ResponseWriter) -> None:
        """Send the half chunk and close."""
        writer.write_half_chunk(self.data, self.missing)
        writer.close()


@dataclass(frozen=True)
class Reset:
    """Reset the connection (RST). The peer's kernel then drops what it has not yet read."""

    def run(self, writer: ResponseWriter) -> None:
        """Reset it."""
        writer.reset()


def writes(data: bytes, size: int) -> Send:
    """Return the step that sends `data` in writes of `size` bytes."""
    return Send(data, cuts=tuple(range(size, len(data), size)))


def events(pieces: Iterable[bytes]) -> tuple[Send, ...]:
    """Return the steps that send each event in a write of its own."""
    return tuple(Send(piece, events=1) for piece in pieces)
