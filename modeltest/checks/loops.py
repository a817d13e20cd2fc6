"""Event loops: the rows of delivery and isolation that hold for asynchronous adapters alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modeltest.assertions import names_of, ordinary_answer, plain_text
from modeltest.backend import AwaitMore, End, Progress, Response, Send, in_step
from modeltest.consumer import AsyncConsumer, Hang, Log
from modeltest.delivery import Case, Trial, ending, expect_events
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
    "test_event_loop_stays_responsive",
    Level.SHOULD,
    needs=EVENT_LOOP,
    fix="await whatever waits: an asynchronous HTTP client, `asyncio.sleep`, `asyncio.to_thread` "
    "around a call that blocks; no requests, no `time.sleep`, no `threading.Lock` in a coroutine",
)
def event_loop_stays_responsive(trial: Trial) -> None:
    """While the adapter waits for its provider, the event loop goes round.

    One call that blocks stops every other task of the process: the answers of other users,
    their time-outs, the heartbeat of the server.
    """
    ticks = Progress()
    with trial.case("", _slow_answer(trial, ticks)) as case:
        _consumer(case).tick(ticks)
        try:
            case.read()
        except Hang as hang:
            if ticks.wait(ticks.count + _TICKS, case.subject.deadline):
                raise  # it hangs, and the loop goes round
            raise hung(
                hang,
                f"the event loop stands still while the adapter waits for its provider: {hang}. "
                "The server goes on once another task has had its turns.",
            ) from None


@check(
    "isolation/loops",
    "test_two_event_loops",
    Level.SHOULD,
    needs=EVENT_LOOP,
    fix="make the client where the stream is opened, or keep one for each running loop; or look at "
    "`asyncio.get_running_loop()` first, and raise an error that says that the model belongs to "
    "another event loop",
)
def two_event_loops(trial: Trial) -> None:
    """One model under two event loops gives each its answer, or a clear error at once.

    Every `asyncio.run()` is an event loop of its own, and so is every test. A client that was
    made under the first waits for ever under the second, for what nobody will tell it.
    """
    _try_one_after_the_other(trial)
    _try_side_by_side(trial)


def _try_one_after_the_other(trial: Trial) -> None:
    """Expect an answer, or an error that says why, under a loop whose forerunner is closed."""
    text = _text_of_answer(trial)
    answer = ordinary_answer(trial, *_WORDS)
    with trial.case("one after the other", answer) as case, _another_loop(case) as other:
        first = case.stream(consumer=other)
        first.read()
        other.leave(case.subject.deadline)
        second = case.read()
        for log in (first.log, second):
            _expect_answer_or_reason(case, log, text)


def _try_side_by_side(trial: Trial) -> None:
    """Expect of two streams, one a loop, that are read in turns, an answer or a reason each."""
    texts = [plain_text(trial, range(first, first + _EVENTS * 2)) for first in (0, 1000)]
    taken = Progress()
    scripts = [in_step(trial, first, taken, streams=2) for first in (0, 1000)]
    with trial.case("side by side", *scripts) as case, _another_loop(case) as other:
        first = case.started(progress=taken)
        second = case.stream(taken, consumer=other)
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
                _expect_answer_or_reason(case, log, text)


_WORDS = ("One ", "answer.")


def _text_of_answer(trial: Trial) -> str:
    with trial.apart(ordinary_answer(trial, *_WORDS)) as case:
        case.set_up()
        log = case.read()
    if not log.text:
        raise Skip(f"the adapter gives no text of an ordinary answer ({ending(log)})")
    return log.text


def _expect_answer_or_reason(case: Case, log: Log, text: str) -> None:
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
        wanted = names_of(case.subject.model_error)
        raise Failure(
            f"under one of two event loops the adapter raised {shown(log.error)}; expected the "
            f"answer, or an error ({wanted}, RuntimeError, …) that says that it is about event "
            "loops.",
            (Evidence("raised", "\n".join(log.raised_at)),),
        )


def _slow_answer(trial: Trial, ticks: Progress) -> Response:
    """Return an answer that goes on only while the event loop goes round."""
    goes_round = AwaitMore(ticks, _TICKS)
    first, second = trial.event(0), trial.event(1)
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


def _consumer(case: Case) -> AsyncConsumer:
    assert isinstance(case.consumer, AsyncConsumer), "the check needs an event loop"
    return case.consumer


@contextmanager
def _another_loop(case: Case) -> Iterator[AsyncConsumer]:
    """Yield a second event loop, from which the case's model can be used as well."""
    other = AsyncConsumer()
    other.faults = _consumer(case).faults
    try:
        yield other
    finally:
        other.stop(case.subject.deadline)
