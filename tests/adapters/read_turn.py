"""The loop that every adapter shares: body → the format's events → the events of one turn."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol

from modeltest import Event, IncompleteResponseError

from .sse import ServerSentEvent, SSEDecoder


class Body(Protocol):
    """Where the bytes come from."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive. Raises IncompleteResponseError."""

    def settle(self) -> None:
        """Be told that the answer is whole, and that nothing more is read."""


class Decoder(Protocol):
    """How the bytes are told apart into events."""

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Take the next bytes, and return the events that they complete."""


class TurnReader(Protocol):
    """What a provider's format means. No input or output: it is fed, and asked."""

    @property
    def over(self) -> bool:
        """Whether the last event of the turn has come: there is nothing more to read."""

    @property
    def complete(self) -> bool:
        """Whether the provider has said that the answer ends; usage may still follow."""

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what the event adds to the answer."""

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, the Finish last, or raise because it is not complete."""


def read_turn(
    body: Body, turn: TurnReader, decoder: Decoder | None = None
) -> Generator[Event, None, None]:
    """Yield the events of the turn that `body` carries, as server-sent events or as `decoder` says.

    Raises:
        IncompleteResponseError: the body ended, in whatever way, before the turn did.
        StreamProtocolError, TruncatedToolArgumentsError, APIError: what the format says.
    """
    decoder = decoder or SSEDecoder()
    try:
        for chunk in body.chunks():
            for event in decoder.feed(chunk):
                yield from turn.take(event)
            if turn.over:
                body.settle()
                break
    except IncompleteResponseError:
        # A connection that breaks after the answer has ended takes nothing away from it.
        if not turn.complete:
            raise
    yield from turn.finish()
