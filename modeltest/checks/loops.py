"""Event loops: the rows of delivery and isolation that hold for asynchronous adapters alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modeltest.assertions import names_of, ordinary_answer, plain_text
from modeltest.backend import AwaitMore, End, Progress, Response, Send, in_step
from modeltest.consumer import Consumer, Hang, Log
from modeltest.delivery import CheckContext, Scenario, ending, expect_events
from modeltest.harness import (
    Evidence,
    Failure,
    Level,
    Need,
    Skip,
    chain_of,
    check,
    hung,
    shown,
    text_of,
)

EVENT_LOOP = (Need.EVENT_LOOP,)

_TICKS = 10
"""Turns of another task, by which the event loop goes round."""

_EVENTS = 4


@check(
    "delivery/loop",
    Level.SHOULD,
    needs=EVENT_LOOP,
    fix="await whatever waits: an asynchronous HTTP client, `asyncio.sleep`, `asyncio.to_thread` "
    "around a call that blocks; no requests, no `time.sleep`, no `threading.Lock` in a coroutine",
)
def event_loop_stays_responsive(context: CheckContext) -> None:
    """While the adapter waits for its provider, the event loop goes round.

    One call that blocks stops every other task of the process: the answers of other users,
    their time-outs, the heartbeat of the server.
    """
    ticks = Progress()
    with context.case("", _slow_answer(context, ticks)) as scenario:
        scenario.consumer.tick(ticks)
        try:
            scenario.read()
        except Hang as hang:
            if ticks.wait(ticks.count + _TICKS, scenario.target.deadline):
                raise  # it hangs, and the loop goes round
            raise hung(
                hang,
                f"the event loop stands still while the adapter waits for its provider: {hang}. "
                "The server goes on once another task has had its turns.",
            ) from None


@check(
    "isolation/loops",
    Level.SHOULD,
    needs=EVENT_LOOP,
    fix="make the client where the stream is opened, or keep one for each running loop; or look at "
    "`asyncio.get_running_loop()` first, and raise an error that says that the model belongs to "
    "another event loop",
)
def two_event_loops(context: CheckContext) -> None:
    """One model under two event loops gives each its answer, or a clear error at once.

    Every `asyncio.run()` is an event loop of its own, and so is every test. A client that was
    made under the first waits for ever under the second, for what nobody will tell it.
    """
    _try_one_after_the_other(context)
    _try_side_by_side(context)


def _try_one_after_the_other(context: CheckContext) -> None:
    """Expect an answer, or an error that says why, under a loop whose forerunner is closed."""
    text = _text_of_answer(context)
    answer = ordinary_answer(context, *_WORDS)
    with context.case("one after the other", answer) as scenario, _another_loop(scenario) as other:
        first = scenario.stream(consumer=other)
        first.read()
        other.close_loop(scenario.target.deadline)
        second = scenario.read()
        for log in (first.log, second):
            _expect_answer_or_reason(scenario, log, text)


def _try_side_by_side(context: CheckContext) -> None:
    """Expect of two streams, one a loop, that are read in turns, an answer or a reason each."""
    texts = [plain_text(context, range(first, first + _EVENTS * 2)) for first in (0, 1000)]
    taken = Progress()
    scripts = [in_step(context, first, taken, streams=2) for first in (0, 1000)]
    with context.case("side by side", *scripts) as scenario, _another_loop(scenario) as other:
        first = scenario.started(progress=taken)
        second = scenario.stream(taken, consumer=other)
        second.open()
        for _ in range(_EVENTS):
            for stream in (first, second):
                if not stream.log.ended:
                    stream.take(1)
                else:
                    taken.advance()  # the other one need not wait for it
        for stream, text in zip((first, second), texts, strict=True):
            log = stream.log
            if log.error is None:
                expect_events(stream, _EVENTS)
            if not text.startswith(log.text) or log.error is not None:
                _expect_answer_or_reason(scenario, log, text)


_WORDS = ("One ", "answer.")


def _text_of_answer(context: CheckContext) -> str:
    with context.apart(ordinary_answer(context, *_WORDS)) as scenario:
        scenario.set_up()
        log = scenario.read()
    if not log.text:
        raise Skip(f"the adapter gives no text of an ordinary answer ({ending(log)})")
    return log.text


def _expect_answer_or_reason(scenario: Scenario, log: Log, text: str) -> None:
    """Expect the answer's text, or an error that has to do with event loops and says so."""
    if log.text == text:
        return
    if log.error is None:
        raise Failure(
            f"under one of two event loops the answer was lost: expected {text!r} or an error, "
            f"got {log.text!r}, and the end."
        )
    causes = chain_of(log.error)
    if not any("loop" in text_of(cause).lower() for cause in causes):
        wanted = names_of(scenario.target.model_error)
        raise Failure(
            f"under one of two event loops the adapter raised {shown(log.error)}; expected the "
            f"answer, or an error ({wanted}, RuntimeError, …) that says that it is about event "
            "loops.",
            (Evidence("raised", "\n".join(log.raised_at)),),
        )


def _slow_answer(context: CheckContext, ticks: Progress) -> Response:
    """Return an answer that goes on only while the event loop goes round."""
    goes_round = AwaitMore(ticks, _TICKS)
    first, second = context.event(0), context.event(1)
    half = len(second) // 2
    steps = (
        goes_round,
        Send(first, events=1),
        goes_round,
        Send(second[:half]),
        goes_round,
        Send(second[half:], events=1),
        End(),
    )
    return Response(steps, before=(goes_round,))


@contextmanager
def _another_loop(scenario: Scenario) -> Iterator[Consumer]:
    """Yield a second event loop, from which the case's model can be used as well."""
    other = scenario.target.new_consumer()
    other.faults = scenario.consumer.faults
    try:
        yield other
    finally:
        other.stop(scenario.target.deadline)
