"""What the backend answers in the checks: endless streams, silence, and cut answers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from modeltest.backend.response import Framing, Response
from modeltest.backend.steps import (
    Await,
    Close,
    CloseInsideChunk,
    End,
    Repeat,
    Reset,
    Send,
    Stall,
    events,
)

if TYPE_CHECKING:
    from modeltest.backend.steps import Step
    from modeltest.backend.writer import ResponseWriter
    from modeltest.threads import Progress


class EventSource(Protocol):
    """Where the events of an endless stream come from."""

    def event(self, index: int, /) -> bytes:
        """Return the bytes of the i-th event."""
        ...


class WholeAnswer(Protocol):
    """An answer that is not streamed."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def content_type(self) -> str:
        """The media type of the body."""
        ...

    @property
    def body(self) -> bytes:
        """The whole body."""
        ...


IN_STEP = 8
"""Events of a stream that keeps in step with others."""

_BURST = 64
"""Events, more than an adapter would read ahead."""


@dataclass(frozen=True)
class Arrive:
    """Count this request, for scripts that wait until so many have come."""

    arrived: Progress = field(repr=False)

    def run(self, writer: ResponseWriter) -> None:  # noqa: ARG002 - nothing is sent
        """Count it."""
        self.arrived.advance()


@dataclass(frozen=True)
class Mark:
    """Note how many events the consumer has by now."""

    taken: Progress = field(repr=False)
    marks: list[int] = field(repr=False)

    def run(self, writer: ResponseWriter) -> None:  # noqa: ARG002 - nothing is sent
        """Note it."""
        self.marks.append(self.taken.count)


@dataclass(frozen=True)
class AwaitMore:
    """Wait until `progress` has advanced so many times from now on."""

    progress: Progress = field(repr=False)
    more: int

    def run(self, writer: ResponseWriter) -> None:
        """Wait for it, the peer's disconnect or the backend's end."""
        Await(self.progress, self.progress.count + self.more).run(writer)


def flowing(source: EventSource, first: int = 0) -> Response:
    """Return an endless stream, one event every 5 ms."""
    return Response((Repeat(source.event, first=first),))


def bursting(source: EventSource, first: int = 0, more: bytes = b"") -> Response:
    """Return a stream that gives 64 events at once, and `more` bytes, and falls silent.

    The events fill what an adapter reads ahead. The silence keeps the streams of an adapter
    that closes none from slowing the machine down; and a pool does not see by what comes
    on a connection that it must not be used again.
    """
    burst = b"".join(source.event(first + index) for index in range(_BURST))
    return Response((Send(burst + more, events=_BURST), Stall()))


def left_half(source: EventSource, first: int) -> Response:
    """Return a stream that falls silent in the middle of its 65th event.

    Whoever stops reading has half an event left over.
    """
    following = source.event(first + _BURST)
    return bursting(source, first, following[: len(following) // 2])


def in_step(
    source: EventSource, first: int, taken: Progress, streams: int, *before: Step
) -> Response:
    """Return a stream that is never more than one event ahead of any of its neighbours.

    An event is sent once each stream has the last event but one before it. So none can have
    all it wants before the others begin, however the machine runs their threads.

    Args:
        source: gives the events.
        first: the first event.
        taken: counts the events that all the streams take.
        streams: how many there are.
        before: steps to run before the events.
    """
    piece = one_and_a_half(source, first)
    steps: list[Step] = [*before]
    for index in range(IN_STEP):
        steps += [Await(taken, streams * (index - 1)), Send(piece(first + index), events=1)]
    return Response((*steps, Stall()))


def one_and_a_half(source: EventSource, first: int = 0) -> Callable[[int], bytes]:
    """Return i → what ends the i-th event, and the first half of the next."""
    event = functools.cache(source.event)  # an author's event may differ each time it is made

    def piece(index: int) -> bytes:
        begun = 0 if index == first else len(event(index)) // 2
        following = event(index + 1)
        return event(index)[begun:] + following[: len(following) // 2]

    return piece


def silent_after(source: EventSource, count: int) -> Response:
    """Return a response that says nothing more after `count` events."""
    return Response((*sent(source, range(count)), Stall()))


def sent(source: EventSource, indices: Iterable[int]) -> tuple[Send, ...]:
    """Return the steps that send these events, one write each."""
    return events(source.event(index) for index in indices)


def ended_cleanly(steps: tuple[Step, ...]) -> Response:
    """Return a chunked body that ends as a whole one does."""
    return Response((*steps, End()))


def close_delimited(steps: tuple[Step, ...]) -> Response:
    """Return a body that ends with its connection, as in HTTP/1.0."""
    return Response((*steps, End()), framing=Framing.CLOSE)


def without_last_chunk(steps: tuple[Step, ...]) -> Response:
    """Return a chunked body whose connection closes before the last chunk."""
    return Response((*steps, Close()))


def inside_chunk(steps: tuple[Step, ...]) -> Response:
    """Return a chunked body whose connection closes inside a chunk."""
    return Response((*steps, CloseInsideChunk()))


def short_of_length(steps: tuple[Step, ...]) -> Response:
    """Return a body shorter than its Content-Length."""
    response = Response(steps, framing=Framing.LENGTH)
    return replace(response, length=response.body_length() + 16)


def reset(steps: tuple[Step, ...], progress: Progress, count: int) -> Response:
    """Return a body that ends in a RST, once the consumer has taken `count` events.

    An earlier one would discard what the client has not read yet.
    """
    return Response((*steps, once_taken(progress, count), Reset()))


def once_taken(progress: Progress, count: int) -> Step:
    """Return the step that waits until the consumer has `count` events.

    A consumer that is never given the last one does not hold the script up for ever.
    """
    return Await(progress, count, at_most=0.5)


def server_error(padding: int = 0) -> Response:
    """Return an HTTP 500 that says what it is, followed by so many bytes of space."""
    body = b'{"error": {"message": "the server is on fire", "type": "server_error"}}'
    return _error(500, body + b" " * padding)


def bad_request() -> Response:
    """Return an HTTP 400 that says what it is: no adapter sends the same request again."""
    return _error(400, b'{"error": {"message": "no such thing", "type": "invalid_request_error"}}')


def _error(status: int, body: bytes) -> Response:
    return Response(
        (Send(body),),
        status=status,
        content_type="application/json",
        framing=Framing.LENGTH,
    )


def answered(answer: WholeAnswer, *headers: tuple[str, str]) -> Response:
    """Return the response that gives `answer`, whole, with more headers."""
    return Response(
        (Send(answer.body),),
        status=answer.status,
        content_type=answer.content_type,
        headers=headers,
        framing=Framing.LENGTH,
    )


def redirect(status: int, location: str) -> Response:
    """Return a redirect without a body."""
    return Response(
        status=status,
        content_type=None,
        headers=(("Location", location),),
        framing=Framing.LENGTH,
    )
