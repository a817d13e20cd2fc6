"""release: stopping early gives the connection back."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from modeltest.backend import Framing, Response, Send, Stall
from modeltest.checks.case import Case, ending, shown
from modeltest.checks.check import Level, check
from modeltest.checks.failure import Failure, Skip, count
from modeltest.checks.scripts import (
    close_delimited,
    ended_cleanly,
    flowing,
    sent,
    silent_after,
    without_last_chunk,
)
from modeltest.checks.texts import expect_beginning, plain_text
from modeltest.checks.trial import Trial
from modeltest.consumer import ConsumerError, Stream
from modeltest.contract import Finish

CLOSE_ON_EVERY_WAY_OUT = (
    "close the response on every way out of the read loop: `with response:` or try/finally "
    "around it"
)


@check("release/break", "test_break_releases", fix=CLOSE_ON_EVERY_WAY_OUT)
def break_releases(trial: Trial) -> None:
    """Breaking out of the event loop releases the response.

    An agent that has seen enough breaks out of its loop and keeps nothing. If the response
    lives on, in a reference cycle, a thread or a pool, the provider goes on generating, and
    billing, an answer that nobody reads.
    """
    with trial.case("", flowing(trial)) as case:
        stream = case.started()
        stream.drop()
        case.expect_released("the consumer broke out of the loop")


@check(
    "release/cancel",
    "test_cancel_releases",
    fix="open the response where close() can reach it: in the stream object, not behind the "
    "first next() of a generator that may never be started",
)
def cancel_releases(trial: Trial) -> None:
    """Cancelling a stream of which nothing was read releases the response.

    The user presses stop before the first word. A generator that was never started runs no
    `finally`, so a request that went out at the call stays open behind it.
    """
    with trial.case("", flowing(trial)) as case:
        stream = case.open()
        stream.cancel()
        if stream.takes_token:
            _expect_over(stream)
        case.expect_released("the consumer cancelled the stream")


@check("release/close", "test_close_releases", fix=CLOSE_ON_EVERY_WAY_OUT)
def close_releases(trial: Trial) -> None:
    """close() releases the response while the stream is still referenced.

    A stream object often outlives its loop, in a variable or an attribute. Then only close()
    can free the connection; it must not wait for the rest of the body either.
    """
    with trial.case("", flowing(trial)) as case:
        stream = case.started()
        stream.leave_loop()
        _close(stream)
        case.expect_released("close()")
        _expect_nothing_read_on(case)


@check("release/with", "test_leaving_with_block_releases", fix=CLOSE_ON_EVERY_WAY_OUT)
def leaving_with_block_releases(trial: Trial) -> None:
    """Leaving a with-block releases the response.

    `with closing(stream)` is the documented way to use a stream; the stream's own context
    manager, where it has one, must do the same.
    """
    _try_with_blocks(trial, _leave_by_break, _leave_at_the_end)


@check("release/unread", "test_unread_stream_releases", fix=CLOSE_ON_EVERY_WAY_OUT)
def unread_stream_releases(trial: Trial) -> None:
    """A stream that was never iterated releases the response when closed or dropped.

    Between getting a stream and reading it, anything may raise. The connection must not
    depend on a first next() that never comes.
    """
    with trial.case("closed", flowing(trial)) as case:
        stream = case.open()
        _close(stream)
        case.expect_released("close() of a stream that was never iterated")
    with trial.case("dropped", flowing(trial)) as case:
        case.open().drop()
        gc.collect()
        case.expect_released("a stream that was never iterated was dropped and collected")


@check("release/consumer-error", "test_consumer_error_releases", fix=CLOSE_ON_EVERY_WAY_OUT)
def consumer_error_releases(trial: Trial) -> None:
    """An exception in the consumer's loop comes out unchanged and releases the response.

    The loop body fails now and then: a full disk, a bad tool. The author must see that
    error, not one of the adapter's, and the connection must not be the price.
    """
    _try_with_blocks(trial, _leave_by_error)


@check(
    "release/twice",
    "test_close_is_idempotent",
    fix="let close() do nothing the second time, and end iteration of a closed stream with "
    "StopIteration",
)
def close_is_idempotent(trial: Trial) -> None:
    """Closing again, or iterating after close(), does nothing.

    with-blocks, `finally` clauses and frameworks each close once. A second close() that
    raises hides the first error; an iteration that reconnects bills a second answer.
    """
    with trial.case("close twice", flowing(trial)) as case:
        stream = case.started()
        stream.leave_loop()
        _close(stream)
        _close(stream)
        _expect_requests(case, 1)
    with trial.case("close after the end", ended_cleanly(sent(trial, range(2)))) as case:
        stream = case.open()
        stream.drain()
        _close(stream)
        _close(stream)
    with trial.case("close after an error", _server_error()) as case:
        stream = case.stream()
        if stream.open() is None:
            stream.drain()
            _close(stream)
            _close(stream)
    with trial.case("iterate after close", flowing(trial)) as case:
        stream = case.started()
        stream.leave_loop()
        _close(stream)
        error = stream.take(1)
        if error is not None:
            raise Failure(f"iterating after close() raised {shown(error)}; expected no event.")
        if len(stream.log.events) > 1:
            raise Failure(f"iterating after close() gave {stream.log.events[1]!r}.")
        _expect_requests(case, 1)


@check(
    "release/blocked",
    "test_cancel_while_blocked_releases",
    fix="wake the blocked read from the cancelling side: with requests and urllib3 "
    "`response.raw.shutdown()`, then close the response in the reader's finally",
)
def cancel_while_blocked_releases(trial: Trial) -> None:
    """Cancelling while the read waits brings the reader back and releases the response.

    Models think for minutes without a byte. Closing a requests response from another thread
    blocks and does not wake its reader; only shutting the socket down does.
    """
    with trial.case("before the first event", silent_after(trial, 0)) as case:
        _cancel_blocked(case, case.open(), events=0)
    with trial.case("mid-stream", silent_after(trial, 1)) as case:
        _cancel_blocked(case, case.started(), events=1)
    before_headers = Response(before=(Stall(),))
    with trial.case("before the headers", before_headers, level=Level.SHOULD) as case:
        stream = case.stream()
        if not stream.takes_token:
            raise Skip("there is no stream to close before the headers, and no `cancel` token")
        _cancel_unanswered(case, stream)


@check("release/failed", "test_failed_turn_releases", fix=CLOSE_ON_EVERY_WAY_OUT)
def failed_turn_releases(trial: Trial) -> None:
    """A turn that fails does not keep its connection in use.

    The error path is the one nobody tests. While the error is handled, its traceback keeps
    the adapter's frames alive, and with them a response that was not closed.
    """
    cases = {
        "HTTP 500 with a body": _server_error(),
        "HTTP 500 with a long body": _server_error(padding=200_000),
        "a clean end too early": ended_cleanly(sent(trial, range(2))),
        "the connection closed midway": without_last_chunk(sent(trial, range(2))),
        "an HTTP/1.0 body cut": close_delimited(sent(trial, range(2))),
    }
    for name, response in cases.items():
        with trial.case(name, response) as case:
            # Held until the verdict, as by an `except` block.
            log = case.read(hold_error=True)
            case.expect_released(f"the turn failed ({ending(log)})")


@check(
    "release/nothing-left",
    "test_abandoned_streams_leave_nothing",
    fix="let every thread and task of a stream end when its stream is closed or dropped; a "
    "thread that waits on a queue needs a way out",
)
def abandoned_streams_leave_nothing(trial: Trial) -> None:
    """Abandoned streams leave no thread, task or socket behind.

    One leaked thread a stream is invisible in a test and fatal in a server after a day. The
    first round may start what an adapter keeps for good; the second must add nothing.
    """
    with trial.case("", flowing(trial)) as case:
        _abandon_by_every_style(case, 20)
        _settle(case, 0)
        threads, tasks = case.new_threads(), case.consumer.tasks()
        _abandon_by_every_style(case, 20)
        _settle(case, threads)
        more = case.new_threads() - threads
        if more > 0:
            raise Failure(f"{count(more, 'thread')} more after abandoning 20 more streams a style.")
        more = case.consumer.tasks() - tasks
        if more > 0:
            raise Failure(f"{count(more, 'task')} more after abandoning 20 more streams a style.")
        case.expect_released("the consumer abandoned its streams")


@check(
    "release/many",
    "test_many_abandoned_streams_do_not_deadlock",
    fix="give each abandoned stream's connection back to the pool or close it, and never wait "
    "for a lock, a queue or the network in a finalizer",
)
def many_abandoned_streams_do_not_deadlock(trial: Trial) -> None:
    """Three hundred abandoned streams do not deadlock.

    A connection that leaks with each stream fills the client's pool, and the next request
    waits for ever. Finalizers that run inside the collector can deadlock on a lock that the
    interrupted code holds. 300 is where published adapters stopped.
    """
    gc.enable()  # as in a real program; the run restores it
    with trial.case("", flowing(trial)) as case:
        for _ in range(300):
            stream = case.started()
            stream.drop()


@check(
    "release/clean-next",
    "test_next_turn_is_clean",
    fix="close a connection in mid-body instead of giving it back to the pool "
    "(urllib3's release_conn() does not close)",
)
def next_turn_is_clean(trial: Trial) -> None:
    """The turn after an abandoned one gives only its own events.

    A connection that goes back to the pool in mid-body hands the rest of the old answer to
    the next request.
    """
    expected = plain_text(trial, range(8))
    styles: dict[str, Callable[[Stream], object]] = {
        "after break": lambda stream: stream.drop(),
        "after close()": _leave_and_close,
    }
    for name, abandon in styles.items():
        with trial.case(name, flowing(trial, first=1000), silent_after(trial, 8)) as case:
            abandon(case.started(2))
            stream = case.started(1)
            expect_beginning(stream, expected)


# The consumer's ways out


def _leave_by_break(stream: Stream, *, own_manager: bool) -> str:
    error = stream.within(own_manager=own_manager, count=1, leave_by="break")
    return _left(error, "break out of a with-block")


def _leave_at_the_end(stream: Stream, *, own_manager: bool) -> str:
    error = stream.within(own_manager=own_manager, count=1, leave_by="end")
    return _left(error, "leaving a with-block")


def _leave_by_error(stream: Stream, *, own_manager: bool) -> str:
    error = stream.within(own_manager=own_manager, count=1, leave_by="error")
    if not isinstance(error, ConsumerError):
        came = "nothing" if error is None else shown(error)
        raise Failure(f"expected the loop body's own exception to come out, got {came}.")
    return "the loop body raised"


def _left(error: BaseException | None, how: str) -> str:
    if error is not None:
        raise Failure(f"{how} raised {shown(error)}.")
    return how


def _try_with_blocks(trial: Trial, *ways_out: Callable[..., str]) -> None:
    for way_out in ways_out:
        name = way_out.__name__.strip("_").replace("_", " ")
        with trial.case(f"closing(stream), {name}", flowing(trial)) as case:
            stream = case.open()
            _expect_closable(stream)
            case.expect_released(way_out(stream, own_manager=False))
        with trial.case(f"the stream's own with, {name}", flowing(trial)) as case:
            stream = case.open()
            if not stream.is_manager:
                raise Skip("the stream is no context manager itself")
            case.expect_released(way_out(stream, own_manager=True))


def _leave_and_close(stream: Stream) -> None:
    stream.leave_loop()
    _close(stream)


def _close(stream: Stream) -> None:
    _expect_closable(stream)
    error = stream.close()
    if error is not None:
        raise Failure(f"close() raised {shown(error)}.")


def _expect_closable(stream: Stream) -> None:
    if not stream.has_close:
        raise Failure(
            "the stream has no close(): expected what stream() returns to be closable, such as "
            "a generator."
        )


def _expect_over(stream: Stream) -> None:
    """Let the cancelled consumer's loop look once more: it must come to an end."""
    stream.take(1)
    if any(isinstance(event, Finish) for event in stream.log.events):
        raise Failure("a cancelled stream gave a Finish.")


def _expect_requests(case: Case, number: int) -> None:
    came = len(case.backend.exchanges)
    if came > number:
        raise Failure(f"expected {count(number, 'request')}, the server received {came}.")


def _expect_nothing_read_on(case: Case) -> None:
    """Expect that close() did not read the rest: the endless body would have kept it."""
    sent_bytes = case.backend.exchanges[0].sent_bytes if case.backend.exchanges else 0
    if sent_bytes > 4_000_000:
        raise Failure(f"close() read on: {sent_bytes} bytes were taken.")


def _cancel_blocked(case: Case, stream: Stream, events: int) -> None:
    """Cancel from outside while the reader waits in the server's silence."""
    if not stream.takes_token and stream.is_generator:
        raise Skip(
            "a generator cannot be closed while it runs; let `stream` take `cancel: CancelToken` "
            "or return a stream object"
        )
    reading = stream.start("take", 1)
    stream.settle(case.subject.deadline)
    if stream.takes_token:
        stream.cancel()
    else:
        _expect_closable(stream)
        error = stream.close_from_elsewhere().wait(case.subject.deadline)
        if error is not None:
            raise Failure(f"close() from another thread raised {shown(error)}.")
    reading.wait(case.subject.deadline)
    if len(stream.log.events) > events:
        raise Failure(f"a cancelled stream gave {stream.log.events[-1]!r}.")
    case.expect_released("the stream was cancelled while its reader waited")


def _cancel_unanswered(case: Case, stream: Stream) -> None:
    opening = stream.start("open")
    if not case.wait_for_request():
        stream.start("take", 1)  # a generator sends its request when it is iterated
        case.wait_for_request()
    stream.settle(case.subject.deadline)
    stream.cancel()
    opening.wait(case.subject.deadline)
    case.expect_released("the stream was cancelled before the server had answered")


def _abandon_by_every_style(case: Case, number: int) -> None:
    for _ in range(number):
        case.started().drop()
        stream = case.started()
        _leave_and_close(stream)
        stream.drop()
        stream = case.open()
        stream.within(own_manager=False, count=1, leave_by="break")
        stream.drop()
        stream = case.open()
        _close(stream)
        stream.drop()
        stream = case.started()
        stream.cancel()
        stream.take(1)
        stream.drop()


def _settle(case: Case, threads: int) -> None:
    """Give threads and tasks until the deadline to come to their end."""
    until = time.monotonic() + case.subject.deadline
    while case.new_threads() > threads and time.monotonic() < until:
        time.sleep(0.002)  # a thread's end signals nothing that could be waited for


def _server_error(padding: int = 0) -> Response:
    body = b'{"error": {"message": "the server is on fire", "type": "server_error"}}'
    return Response(
        (Send(body + b" " * padding),),
        status=500,
        content_type="application/json",
        framing=Framing.LENGTH,
    )
