"""faults: what an adapter that tries again must not do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING

from modeltest.assertions import ending, expect_error, expect_requests
from modeltest.backend import (
    Close,
    Mark,
    Pause,
    Reset,
    Response,
    Stall,
    answered,
    ended_cleanly,
    once_taken,
    sent,
    silent_after,
)
from modeltest.clock import now
from modeltest.corpus import cut_argument_bodies, error_answer, error_bodies
from modeltest.harness import Example, Failure, Need, check, count, hung
from modeltest.threads import Hang, Progress

if TYPE_CHECKING:
    from modeltest.backend import Step
    from modeltest.consumer import Log
    from modeltest.delivery import Scenario, ServedContext


_HINT = 3.0
"""Seconds at most that a hint which a client should wait for asks for."""

_EARLY = 0.05
"""Seconds by which two clocks may differ."""


@check(
    "faults/retry-after",
    needs=(Need.RETRIES,),
    fix="wait as long as Retry-After says, in seconds or until its date, before the next try; "
    "where that is longer than a user would wait, raise the error at once",
    example=Example(
        "The server refuses, and says when to come again. A second request within the hour comes "
        "early; a turn that has not ended after the deadline is asleep.",
        sends=lambda wire: answered(error_answer(wire, 429), ("Retry-After", "3600")),
        others=("1 second", "1 second, with HTTP 503", "a date"),
    ),
)
def retry_after_is_honoured(context: ServedContext) -> None:
    """A request is not sent again before the time that Retry-After gives.

    A client that comes early is refused again, and may be locked out. One that sleeps for an
    hour holds a user, who learns nothing, for an hour.
    """
    _try_hint(context, "1 second", "1", lambda asked: asked + 1)
    _try_hint(context, "1 second, with HTTP 503", "1", lambda asked: asked + 1, status=503)
    date = math.ceil(time.time()) + 1
    due = date - time.time() + now()
    _try_hint(context, "a date", formatdate(date, usegmt=True), lambda _: due)
    _try_hint(context, "an hour", "3600", lambda asked: asked + 3600)


@check(
    "faults/no-repeat",
    fix="send a request again only as long as no event was given; after that, raise",
    example=Example(
        "A second request would be answered whole.",
        server="2 events; once the consumer has them, the connection closes; other events to "
        "every further request",
        consumer="reads to the end",
        fault="gets the events of the first answer, then those of the second",
    ),
)
def no_retry_after_first_event(context: ServedContext) -> None:
    """An answer that fails after its first event is not begun again.

    The consumer has shown the first words. A second answer has others, and both are taken for
    one.
    """
    for name, fails in _failing_answers(context):
        _try_once_begun(context, name, fails)


@check(
    "faults/idle",
    needs=(Need.IDLE_TIMEOUT,),
    fix="pass `self.idle_timeout` of the test case to the HTTP client as its read timeout, which "
    "counts from byte to byte (it is no limit for the whole answer), and raise a ModelError when "
    "it runs out",
    example=Example(
        "The connection stands, and nothing comes.",
        server="says nothing at all; or the headers, then nothing; or one event, then nothing; or "
        "six events with short pauses, which take longer than idle_timeout in all",
        consumer="reads to the end",
        fault="after idle_timeout and the deadline the adapter still waits; or it gives up an "
        "answer that was never silent for so long",
    ),
)
def silence_is_an_error(context: ServedContext) -> None:
    """A provider that says nothing for `idle_timeout` seconds is an error.

    A connection whose other end is gone stays silent for ever, and the turn with it.
    """
    silence = context.target.idle_timeout or 0.0
    for name, response in {
        "accepted, then nothing": Response(before=(Stall(),)),
        "headers, then silence": silent_after(context, 0),
        "one event, then silence": silent_after(context, 1),
    }.items():
        with context.case(name, response) as scenario:
            log = scenario.read(patience=silence * (1 + context.target.retries))
            expect_error(scenario, log, f"{silence:g} s of silence")
            expect_requests(scenario, 1 + context.target.retries)
            scenario.expect_released("the turn failed")
    # Whether or not it tries again, it must not once it has given an event.
    _try_once_begun(
        context,
        "one event, then silence, then another answer",
        lambda _: silent_after(context, 1),
        patience=silence * (1 + context.target.retries),
    )
    with context.case(
        "no silence, but a long answer", *[_unhurried(context, silence)] * _TRIES
    ) as scenario:
        _expect_read_on(scenario, silence)


_PIECES, _TRIES = 6, 3
"""Events of an answer that takes longer than the silence, and how often it may be read."""


def _unhurried(context: ServedContext, silence: float) -> Response:
    """Return an answer whose pauses are short, and which takes longer than `silence` in all."""
    steps = [step for one in sent(context, range(_PIECES)) for step in (one, Pause(silence / 4))]
    return ended_cleanly(tuple(steps))


def _expect_read_on(scenario: Scenario, silence: float) -> None:
    """Expect all events of an answer without silence. A busy machine makes some: read it again."""
    for _ in range(_TRIES):
        log = scenario.read(patience=silence * _PIECES)
        if log.events and scenario.backend.exchanges[-1].sent_events == _PIECES:
            return
    raise Failure(
        f"an answer with pauses of {silence / 4:g} s was given up, after "
        f"{count(len(log.events), 'event')} of {_PIECES}; expected that only a silence of "
        f"{silence:g} s ends it: {ending(log)}."
    )


def _try_once_begun(
    context: ServedContext, name: str, fails: Callable[[Progress], Response], patience: float = 0.0
) -> None:
    """Try an answer that fails, and expect that no other is begun once an event of it was given.

    Args:
        context: the context.
        name: the case's.
        fails: the progress of the consumer → the answer.
        patience: seconds that it may take beyond the deadline.
    """
    taken, marks = Progress(), list[int]()
    another = _another_answer(context, Mark(taken, marks))
    with context.case(name, fails(taken), another) as scenario:
        _expect_not_begun_again(scenario.read(taken, patience=patience), marks)


def _failing_answers(
    context: ServedContext,
) -> Iterator[tuple[str, Callable[[Progress], Response]]]:
    """Yield what an answer may fail of after its first event, and the answer."""
    half = sent(context, range(2))

    def broken_by(last: Step) -> Callable[[Progress], Response]:
        return lambda taken: Response((*half, once_taken(taken, 2), last))

    yield "the connection closes", broken_by(Close())
    yield "the connection is reset", broken_by(Reset())
    yield "the body ends", lambda _: ended_cleanly(half)
    answers = context.malformed_responses()
    wire = context.target.wire
    if wire is not None:
        errors = [body for body in context.bodies_if_any(error_bodies) if body.text]
        cut_calls = [body for body in context.bodies_if_any(cut_argument_bodies) if not body.finish]
        answers |= {body.name: context.response(body) for body in (*errors, *cut_calls[-1:])}
    for name, whole in answers.items():
        yield name, lambda _, whole=whole: whole  # type: ignore[misc]


def _try_hint(
    context: ServedContext, name: str, value: str, due: Callable[[float], float], status: int = 429
) -> None:
    """Refuse a request with this Retry-After; expect none before it is due.

    `due` gives the monotonic time from which another may come, for the time of the first.
    """
    refusal = answered(error_answer(context.target.wire, status), ("Retry-After", value))
    with context.case(name, refusal, _another_answer(context)) as scenario:
        try:
            log = scenario.read(patience=_HINT)
        except Hang as hang:
            raise hung(
                hang,
                f"refused with Retry-After: {value}, the adapter has not come back after "
                f"{hang.seconds:.1f} s; expected another request once that time is over, or an "
                "error at once where it is longer than a user's patience.",
            ) from None
        first, *others = [exchange.received for exchange in scenario.backend.exchanges] or [0.0]
        early = [at for at in others if at < due(first) - _EARLY]
        if early:
            raise Failure(
                f"a request that was refused with Retry-After: {value} was sent again "
                f"{early[0] - first:.1f} s later; expected {due(first) - first:.1f} s or more.",
                (scenario.requests_shown(),),
            )
        if log.error is not None:
            expect_error(scenario, log, f"HTTP {status} with Retry-After: {value}")


def _another_answer(context: ServedContext, *before: Step) -> Response:
    """Return an answer with other words than the first one's."""
    return replace(context.ordinary_response("Another ", "answer", first=1000), before=before)


def _expect_not_begun_again(log: Log, marks: list[int]) -> None:
    """Expect no event of a second answer where there were some of the first.

    Args:
        log: what the consumer got.
        marks: how many events it had when each further request came.
    """
    given = next((mark for mark in marks if mark), 0)
    if given and len(log.events) > given:
        raise Failure(
            f"the answer failed after the consumer had {count(given, 'event')}, and was begun "
            f"again: it got {log.text!r}.",
        )
