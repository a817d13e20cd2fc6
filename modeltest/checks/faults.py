"""faults: the provider fails, and what the adapter does then."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from email.utils import formatdate

from modeltest.backend import Close, Pause, Progress, Reset, Response, SendHead, Stall, Step
from modeltest.checks.answers import answered, error_answer, html_page, json_answer
from modeltest.checks.case import Case, ending
from modeltest.checks.check import Need, check
from modeltest.checks.failure import Failure, count, hung, size
from modeltest.checks.refusal import expect_error, expect_refused, expect_said
from modeltest.checks.said import repr_of, text_of
from modeltest.checks.scripts import (
    Mark,
    ended_cleanly,
    once_taken,
    sent,
    silent_after,
)
from modeltest.checks.trial import Trial
from modeltest.checks.turns import (
    answer,
    bodies_or_none,
    bodies_or_skip,
    ordinary_answer,
    wire_shown,
)
from modeltest.clock import now
from modeltest.consumer import Hang, Log
from modeltest.wire import Body, ErrorResponse

_STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 500, 503, 529)
_MAY_PASS = (408, 409, 429)
"""Client errors that may be over when the same request is sent again; no other 4xx may be."""

_LARGE = 10_000_000
_BOUND = 100_000
"""Bytes of a body that is not carried, and characters that an error may carry."""

_HINT = 3.0
"""Seconds at most that a hint which a client should wait for asks for."""

_EARLY = 0.05
"""Seconds by which two clocks may differ."""


@check(
    "faults/status",
    "test_http_errors_are_errors",
    fix="raise a ModelError with the HTTP status and the provider's message for every status but "
    "200; read a bounded part of the body, close the response, and send the request again only "
    "after 408, 409, 429 and 5xx, not more often than `retries` says",
)
def http_errors_are_errors(trial: Trial) -> None:
    """A refusal over HTTP is an error that says its status and the provider's words.

    An agent loop decides by them whether to wait, to shorten the prompt or to give up. A 400
    that is sent again is refused again; a page of ten megabytes fills the log.
    """
    for status in _STATUSES:
        _try_refusal(trial, f"HTTP {status}", error_answer(trial, status))
    _try_refusal(trial, "HTTP 502, a page", html_page(502, "502 Bad Gateway"))
    page = html_page(500, "500 Internal Server Error", _LARGE)
    _try_refusal(trial, f"HTTP 500, a page of {size(_LARGE)}", page)


@check(
    "faults/retry-after",
    "test_retry_after_is_honoured",
    needs=(Need.RETRIES,),
    fix="wait as long as Retry-After says, in seconds or until its date, before the next try; "
    "where that is longer than a user would wait, raise the error at once",
)
def retry_after_is_honoured(trial: Trial) -> None:
    """A request is not sent again before the time that Retry-After gives.

    A client that comes early is refused again, and may be locked out. One that sleeps for an
    hour holds a user, who is told nothing, for an hour.
    """
    _try_hint(trial, "1 second", "1", lambda asked: asked + 1)
    date = math.ceil(time.time()) + 1
    due = date - time.time() + now()
    _try_hint(trial, "a date", formatdate(date, usegmt=True), lambda _: due)
    _try_hint(trial, "an hour", "3600", lambda asked: asked + 3600)


@check(
    "faults/not-a-stream",
    "test_response_that_is_no_stream_is_an_error",
    fix="look at the Content-Type: what is no stream of events is an error, whatever the status "
    "says; then expect the end of the turn, which no page has",
)
def response_that_is_no_stream_is_an_error(trial: Trial) -> None:
    """A response with status 200 that is no stream is an error.

    Proxies answer with pages, gateways with an error object under 200. A reader that skips what
    it does not know makes an empty answer of either.
    """
    error = error_answer(trial, 400)
    page = html_page(200, "Please log in")
    whole = ErrorResponse(200, "application/json", json_answer(trial), ())
    for name, said in {
        "an error as JSON": replace(error, status=200),
        "a page": page,
        "an answer as JSON, not streamed": whole,
    }.items():
        with trial.case(name, answered(said)) as case:
            expect_refused(case, f"{name}, with status 200,")
            _expect_requests(case, 1 + trial.subject.retries)
            case.expect_released("the turn failed")


@check(
    "faults/error-event",
    "test_error_event_is_an_error",
    needs=(Need.WIRE,),
    fix="raise a ModelError that carries the provider's type and message for each shape of its "
    "error event, and nothing after it",
)
def error_event_is_an_error(trial: Trial) -> None:
    """An error event is an error, with the provider's type and message in it.

    It comes after HTTP 200, and after half an answer. Ignored, it leaves that half for a whole.
    """
    for body in bodies_or_skip(trial.subject.wire.error_bodies):
        with trial.case(body.name, answer(trial, body)) as case:
            error = expect_error(case, case.read(), "an error event", wire_shown(body))
            words = body.error.words if body.error is not None else ()
            expect_said(error, words, "what the provider said", wire_shown(body))
            _expect_requests(case, 1 if body.text else 1 + trial.subject.retries)


@check(
    "faults/no-repeat",
    "test_no_retry_after_first_event",
    fix="send a request again only as long as no event was given; after that, raise",
)
def no_retry_after_first_event(trial: Trial) -> None:
    """An answer that breaks after its first event is not begun again.

    The consumer has shown the first words. A second answer has others, and both are taken for
    one.
    """
    half = sent(trial, range(2))
    for name, last in _BREAKS.items():
        taken, marks = Progress(), list[int]()
        breaks = Response((*half, once_taken(taken, 2), last))
        with trial.case(name, breaks, _another_answer(trial, Mark(taken, marks))) as case:
            _expect_not_begun_again(case.read(taken), marks)
    for body in _failing_bodies(trial):
        taken, marks = Progress(), list[int]()
        fails = answer(trial, body)
        with trial.case(body.name, fails, _another_answer(trial, Mark(taken, marks))) as case:
            _expect_not_begun_again(case.read(taken), marks)


@check(
    "faults/unreachable",
    "test_unreachable_provider_is_an_error",
    fix="catch what the HTTP client raises at the call as well as in mid-body, and raise a "
    "ModelError from it",
)
def unreachable_provider_is_an_error(trial: Trial) -> None:
    """A provider that cannot be reached, or does not answer in HTTP, is an error.

    An exception of the HTTP client passes every handler of the agent loop, and ends the program.
    """
    with trial.case("connection refused") as case, nobody_listens(case):
        expect_error(case, case.read(), "a refused connection")
    for name, before in _NO_ANSWERS.items():
        with trial.case(name, Response(before=before)) as case:
            expect_error(case, case.read(), name)
            _expect_requests(case, 1 + trial.subject.retries)
            case.expect_released("the turn failed")


@check(
    "faults/idle",
    "test_silence_is_an_error",
    needs=(Need.IDLE_TIMEOUT,),
    fix="hand `self.idle_timeout` of the test case to the HTTP client as its read timeout, which "
    "counts from byte to byte (it is no limit for the whole answer), and raise a ModelError when "
    "it runs out",
)
def silence_is_an_error(trial: Trial) -> None:
    """A provider that says nothing for `idle_timeout` seconds is an error.

    A connection whose other end is gone stays silent for ever, and the turn with it.
    """
    silence = trial.subject.idle_timeout or 0.0
    for name, response in {
        "accepted, then nothing": Response(before=(Stall(),)),
        "headers, then silence": silent_after(trial, 0),
        "one event, then silence": silent_after(trial, 1),
    }.items():
        with trial.case(name, response) as case:
            log = case.read(patience=silence * (1 + trial.subject.retries))
            expect_error(case, log, f"{silence:g} s of silence")
            _expect_requests(case, 1 + trial.subject.retries)
            case.expect_released("the turn failed")
    with trial.case(
        "no silence, but a long answer", *[_unhurried(trial, silence)] * _TRIES
    ) as case:
        _expect_read_on(case, silence)


_PIECES, _TRIES = 6, 3
"""Events of an answer that takes longer than the silence, and how often it may be read."""


def _unhurried(trial: Trial, silence: float) -> Response:
    """Return an answer whose pauses are short, and which takes longer than `silence` in all."""
    steps = [step for one in sent(trial, range(_PIECES)) for step in (one, Pause(silence / 4))]
    return ended_cleanly(tuple(steps))


def _expect_read_on(case: Case, silence: float) -> None:
    """Expect all events of an answer without silence. A busy machine makes some: read it again."""
    for _ in range(_TRIES):
        log = case.read(patience=silence * _PIECES)
        if log.events and case.backend.exchanges[-1].sent_events == _PIECES:
            return
    raise Failure(
        f"an answer with pauses of {silence / 4:g} s was given up, after "
        f"{count(len(log.events), 'event')} of {_PIECES}; expected that only a silence of "
        f"{silence:g} s ends it: {ending(log)}."
    )


_BREAKS: dict[str, Step] = {"the connection closes": Close(), "the connection is reset": Reset()}
"""How an answer breaks."""

_NO_ANSWERS: dict[str, tuple[Step, ...]] = {
    "closed before any header": (Close(),),
    "reset before any header": (Reset(),),
    "closed within the status line": (SendHead(b"HTTP/1.1 20"), Close()),
    "an answer in another protocol": (SendHead(b"SSH-2.0-OpenSSH_9.6\r\n"), Close()),
}
"""What comes instead of a head, and how."""


@contextmanager
def nobody_listens(case: Case) -> Iterator[None]:
    """Stop the backend, and keep its port from others, so that connections are refused."""
    address = case.backend.address
    case.backend.stop()
    with socket.socket() as placeholder:
        with suppress(OSError):  # of the system's; who has taken the port since is no provider
            placeholder.bind(address)
        yield


def _try_refusal(trial: Trial, name: str, refusal: ErrorResponse) -> None:
    with trial.case(name, answered(refusal)) as case:
        log = case.read()
        error = expect_error(case, log, f"HTTP {refusal.status}")
        # First: to look at an error may read its response to the end. And an adapter that
        # releases none is not waited for each time.
        if not trial.broken:
            case.expect_released("the turn failed")
        expect_said(error, refusal.words, "what the provider said")
        _expect_status(error, refusal)
        _expect_bounded(error)
        final = 400 <= refusal.status < 500 and refusal.status not in _MAY_PASS
        _expect_requests(case, 1 if final else 1 + trial.subject.retries)


def _expect_status(error: BaseException, refusal: ErrorResponse) -> None:
    """Expect the status itself: the provider's words may hold the same number."""
    expect_said(error, (str(refusal.status),), "the HTTP status", without=refusal.words)


def _expect_bounded(error: BaseException) -> None:
    texts = {"its text": text_of(error)}
    with suppress(Exception):  # a property of the author's
        texts["what it was made of"] = repr_of(error.args)
    for name, value in getattr(error, "__dict__", {}).items():
        if isinstance(value, str | bytes | bytearray | list):
            texts[f"its attribute {name!r}"] = repr_of(value)
    for what, text in texts.items():
        if len(text) > _BOUND:
            raise Failure(
                f"the error carries the whole body: {what} has {len(text):,} characters; expected "
                f"{_BOUND:,} at most.",
                fix="read and keep the first few thousand bytes of an error's body",
            )


def _expect_requests(case: Case, at_most: int) -> None:
    came = len(case.backend.exchanges)
    if came > at_most:
        raise Failure(
            f"{count(came, 'request')} came; expected {at_most} at most "
            f"(`retries` is {case.subject.retries}).",
            (case.requests_shown(),),
            fix="send a request again only after 408, 409, 429, 5xx or a failed connection, and "
            "not more often than `retries` of the test case says",
        )


def _try_hint(trial: Trial, name: str, value: str, due: Callable[[float], float]) -> None:
    """Refuse a request with this Retry-After; expect none before it is due.

    `due` gives the monotonic time from which another may come, for the time of the first.
    """
    refusal = answered(error_answer(trial, 429), ("Retry-After", value))
    with trial.case(name, refusal, _another_answer(trial)) as case:
        try:
            log = case.read(patience=_HINT)
        except Hang as hang:
            raise hung(
                hang,
                f"refused with Retry-After: {value}, the adapter has not come back after "
                f"{hang.seconds:.1f} s; expected another request once that time is over, or an "
                "error at once where it is longer than a user's patience.",
            ) from None
        first, *others = [exchange.received for exchange in case.backend.exchanges] or [0.0]
        early = [at for at in others if at < due(first) - _EARLY]
        if early:
            raise Failure(
                f"a request that was refused with Retry-After: {value} was sent again "
                f"{early[0] - first:.1f} s later; expected {due(first) - first:.1f} s or more.",
                (case.requests_shown(),),
            )
        if log.error is not None:
            expect_error(case, log, f"HTTP 429 with Retry-After: {value}")


def _another_answer(trial: Trial, *before: Step) -> Response:
    """Return an answer with other words than the first one's."""
    return replace(ordinary_answer(trial, "Another ", "answer", first=1000), before=before)


def _failing_bodies(trial: Trial) -> tuple[Body, ...]:
    """Return a wire's answers that fail after some text."""
    wire = trial.subject.wire
    bodies = () if wire is None else bodies_or_none(wire.error_bodies)
    return tuple(body for body in bodies if body.text)


def _expect_not_begun_again(log: Log, marks: list[int]) -> None:
    """Expect no event of a second answer where there were some of the first.

    Args:
        log: what the consumer got.
        marks: how many events it had when each further request came.
    """
    given = next((mark for mark in marks if mark), 0)
    if given and len(log.events) > given:
        raise Failure(
            f"the answer broke after the consumer had {count(given, 'event')}, and was begun "
            f"again: it got {log.text!r}.",
        )
