"""What the backend answers in the checks: endless streams, silence, and cut answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modeltest.backend import (
    Await,
    Close,
    CloseInsideChunk,
    End,
    Framing,
    Progress,
    Repeat,
    Reset,
    Response,
    Send,
    Stall,
    Step,
    events,
)
from modeltest.checks.trial import Trial


def flowing(trial: Trial, first: int = 0) -> Response:
    """Return an endless stream, one event every 5 ms."""
    return Response((Repeat(trial.event, first=first),))


def silent_after(trial: Trial, count: int) -> Response:
    """Return a response that says nothing more after `count` events."""
    return Response((*sent(trial, range(count)), Stall()))


def sent(trial: Trial, indices: Iterable[int]) -> tuple[Send, ...]:
    """Return the steps that send these events, one write each."""
    return events(trial.event(index) for index in indices)


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

    An earlier one would discard what the client has not read yet. A consumer that is never
    given the last event does not hold the reset up for ever.
    """
    return Response((*steps, Await(progress, count, at_most=0.5), Reset()))
