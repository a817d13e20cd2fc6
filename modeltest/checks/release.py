"""release: stopping early gives the connection back."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING

from modeltest.assertions import ending, expect_beginning, expect_one_finish
from modeltest.backend import (
    Response,
    Send,
    Stall,
    bursting,
    close_delimited,
    ended_cleanly,
    flowing,
    left_half,
    sent,
    server_error,
    silent_after,
    without_last_chunk,
)
from modeltest.clock import now, pause
from modeltest.consumer import ConsumerError
from modeltest.corpus import error_bodies, malformed_bodies, whole_bodies
from modeltest.harness import Example, Failure, Level, Need, Skip, check, count
from modeltest.interface import Finish, FinishReason, TextDelta
from modeltest.threads import shown

if TYPE_CHECKING:
    from modeltest.consumer import Stream
    from modeltest.delivery import Scenario, ServedContext
    from modeltest.threads import Pending


CLOSE_ON_EVERY_WAY_OUT = (
    "close the response on every way out of the read loop: `with response:` or try/finally "
    "around it"
)
NOTHING_KEEPS_THE_STREAM = (
    f"{CLOSE_ON_EVERY_WAY_OUT}; and let nothing that lives longer know the stream: no cycle, no "
    "list on the model, no callback that stays on the caller's token"
)

STILL_OPEN = "the client does not disconnect; the connection stays in use"

_ROUND = 20
"""Streams left in each style."""

PATIENCE = 60
"""Deadlines within which 300 streams can be left on the busiest machine."""


@check(
    "release/break",
    fix=NOTHING_KEEPS_THE_STREAM,
    example=Example(
        "The loop is left after one event, and nothing keeps the stream.",
        sends=flowing,
        consumer="takes one event, breaks out of the loop, drops the stream",
        fault=STILL_OPEN,
    ),
)
def break_releases(context: ServedContext) -> None:
    """Breaking out of the event loop releases the response.

    An agent that has seen enough breaks out of its loop and keeps nothing. If the response
    lives on, in a reference cycle, a thread or a pool, the provider goes on generating, and
    billing, an answer that nobody reads.
    """
    with context.case("", flowing(context)) as scenario:
        stream = scenario.started()
        token = stream.token  # the caller's, who may keep it for all of a conversation
        stream.drop()
        kept = "" if token is None else ", and kept the token"
        scenario.expect_released(f"the consumer broke out of the loop{kept}")
        del token


@check(
    "release/cancel",
    fix="open the response where close() can reach it: in the stream object, not behind the "
    "first next() of a generator that may never be started",
    example=Example(
        "The stream is cancelled before its first event was asked for.",
        sends=flowing,
        consumer="gets the stream, reads nothing; cancels its token, or calls close()",
        fault=f"the request went out, and {STILL_OPEN}",
    ),
)
def cancel_releases(context: ServedContext) -> None:
    """Cancelling a stream of which nothing was read releases the response.

    The user presses stop before the first word. A generator that was never started runs no
    `finally`, so a request that went out at the call stays open behind it.
    """
    with context.case("", flowing(context)) as scenario:
        stream = scenario.open()
        _cancel(stream)
        if stream.can_be_cancelled:
            # The loop goes on to its end: what had come with the headers may still be given.
            stream.drain()
            _expect_no_finish(stream)
        scenario.expect_released("the consumer cancelled the stream")


@check(
    "release/close",
    fix=CLOSE_ON_EVERY_WAY_OUT,
    example=Example(
        "close() is called while a variable still holds the stream.",
        sends=lambda wire: silent_after(wire, 2),
        consumer="takes one event, leaves the loop, keeps the stream, calls close()",
        fault=f"close() waits for more of the body; or {STILL_OPEN}",
    ),
)
def close_releases(context: ServedContext) -> None:
    """close() releases the response while the stream is still referenced.

    A stream object often outlives its loop, in a variable or an attribute. Then only close()
    can free the connection; it must not wait for the rest of the body either.
    """
    for name, response in {
        "while events come": flowing(context),
        "in the server's silence": silent_after(context, 2),  # where to read on is to wait
    }.items():
        with context.case(name, response) as scenario:
            stream = scenario.started()
            scenario.let_threads_rest()  # a thread that reads ahead then waits for the server
            _leave_and_close(stream)
            scenario.expect_released("close()")


@check(
    "release/with",
    fix=CLOSE_ON_EVERY_WAY_OUT,
    example=Example(
        "A with-block is left by `break`, and at its end.",
        sends=flowing,
        consumer="with closing(stream): takes one event, breaks",
        fault=f"the block is over, and {STILL_OPEN}",
    ),
)
def leaving_with_block_releases(context: ServedContext) -> None:
    """Leaving a with-block releases the response.

    `with closing(stream)` is the documented way to use a stream; the stream's own context
    manager, where it has one, must do the same.
    """
    _try_with_blocks(context, _leave_by_break, _leave_at_the_end)


@check(
    "release/unread",
    fix=CLOSE_ON_EVERY_WAY_OUT,
    example=Example(
        "next() is never called.",
        sends=flowing,
        consumer="gets the stream; closes it, or drops it and lets the collector run",
        fault=f"the request went out, and {STILL_OPEN}",
    ),
)
def unread_stream_releases(context: ServedContext) -> None:
    """A stream that was never iterated releases the response when closed or dropped.

    Between getting a stream and reading it, anything may raise. The connection must not
    depend on a first next() that never comes.
    """
    with context.case("closed", flowing(context)) as scenario:
        stream = scenario.open()
        _close(stream)
        scenario.expect_released("close() of a stream that was never iterated")
    with context.case("dropped", flowing(context)) as scenario:
        scenario.open().drop()
        gc.collect()
        scenario.expect_released("a stream that was never iterated was dropped and collected")


@check(
    "release/consumer-error",
    fix=CLOSE_ON_EVERY_WAY_OUT,
    example=Example(
        "The body of the loop raises.",
        sends=flowing,
        consumer="with closing(stream): takes one event, raises an error of its own",
        fault=f"another error comes out of the block; or {STILL_OPEN}",
    ),
)
def consumer_error_releases(context: ServedContext) -> None:
    """An exception in the consumer's loop comes out unchanged and releases the response.

    The loop body fails now and then: a full disk, a bad tool. The author must see that
    error, not one of the adapter's, and the connection must not be the price.
    """
    _try_with_blocks(context, _leave_by_error)


@check(
    "release/twice",
    fix="let close() do nothing the second time, and end iteration of a closed stream with "
    "StopIteration",
    example=Example(
        "The stream is used after it was closed.",
        sends=flowing,
        consumer="takes one event, calls close(), calls close() again; or asks for another event",
        fault="close() raises the second time; or iterating on raises, gives an event or sends a "
        "second request",
    ),
)
def close_is_idempotent(context: ServedContext) -> None:
    """Closing again, or iterating after close(), does nothing.

    with-blocks, `finally` clauses and frameworks each close once. A second close() that
    raises hides the first error; an iteration that reconnects bills a second answer.
    """
    with context.case("close twice", flowing(context)) as scenario:
        stream = scenario.started()
        stream.break_loop()
        _close_twice(scenario, stream)
    with context.case("close after the end", ended_cleanly(sent(context, range(2)))) as scenario:
        stream = scenario.open()
        stream.drain()
        _close_twice(scenario, stream)
    with context.case("close after an error", server_error()) as scenario:
        stream = scenario.stream()
        if stream.open() is None:
            stream.drain()
            _close_twice(scenario, stream)
    with context.case("iterate after close", flowing(context)) as scenario:
        stream = scenario.started()
        _leave_and_close(stream)
        _expect_nothing_more(scenario, stream)
    with context.case("iterate after close, unread until then", flowing(context)) as scenario:
        stream = scenario.open()
        _close(stream)
        _expect_nothing_more(scenario, stream)


@check(
    "release/blocked",
    fix="wake the blocked read from the cancelling side: with requests and urllib3 "
    "`response.raw.shutdown()`, then close the response in the reader's finally",
    example=Example(
        "The adapter waits for a byte that does not come.",
        sends=lambda wire: silent_after(wire, 2),
        consumer="waits for the third event; another thread cancels the token or calls close() "
        "(asynchronous: the task is cancelled)",
        fault=f"the adapter stays blocked, its stack is shown; or {STILL_OPEN}",
    ),
)
def cancel_while_blocked_releases(context: ServedContext) -> None:
    """Cancelling while the read waits brings the reader back and releases the response.

    Models think for minutes without a byte. Closing a requests response from another thread
    blocks and does not wake its reader; only shutting the socket down does.
    """
    with context.case("before the first event", silent_after(context, 0)) as scenario:
        _cancel_blocked(scenario, scenario.stream(), "")
    with context.case("mid-stream", silent_after(context, 2)) as scenario:
        _cancel_blocked(scenario, scenario.stream(), context.plain_text(range(2)))
    before_headers = Response(before=(Stall(),))
    with context.case("before the headers", before_headers, level=Level.SHOULD) as scenario:
        stream = scenario.stream()
        if not stream.can_be_cancelled:
            raise Skip("there is no stream to close before the headers, and no `cancel` token")
        _cancel_unanswered(scenario, stream)


@check(
    "release/finished",
    needs=(Need.WIRE,),
    fix="once the turn is over, take what is left of the body for a moment (a tenth of a second: "
    "the last chunk is there, or does not come), then close it; keep one client for all streams "
    "of a model. Only a body that was read to its end leaves a connection to be used again",
    example=Example(
        "The end marker is not the end of the body. An adapter that stops reading at the marker "
        "leaves the last chunk unread, and the connection can serve no second turn.",
        sends=lambda wire: ended_cleanly(
            (Send(wire.encode(TextDelta("Hello"), Finish(FinishReason.STOP)).data),)
        ),
    ),
)
def finished_turn_releases(context: ServedContext) -> None:
    """A turn that ended releases its response, and its connection can be used again.

    Whoever stops at the end marker leaves the end of the body unread: the connection is neither
    free nor closed, and a pool of one makes the second turn wait for ever.
    """
    text = context.bodies(whole_bodies)[0]
    turns = [context.response(text)] * 3
    with context.case("turn after turn", *turns) as scenario:
        for _ in turns:
            expect_one_finish(scenario.read())
            scenario.expect_released("the turn had ended")
    with context.case("the connection is used again", *turns, level=Level.SHOULD) as scenario:
        for _ in turns:
            expect_one_finish(scenario.read())
        if scenario.backend.connections > 1:
            connections = count(scenario.backend.connections, "connection")
            raise Failure(
                f"{count(len(turns), 'turn')} took {connections}; expected one, which saves a "
                "handshake a turn."
            )


@check(
    "release/failed",
    fix=CLOSE_ON_EVERY_WAY_OUT,
    example=Example(
        "The error is held, as an `except` block holds it. The turn may also fail by its status, "
        "or by an error event.",
        sends=lambda wire: without_last_chunk(sent(wire, range(2))),
        consumer="catches the error and looks at it",
        fault="the error's traceback keeps the response alive; the connection stays in use",
    ),
)
def failed_turn_releases(context: ServedContext) -> None:
    """A turn that fails does not keep its connection in use.

    The error path is the one nobody tests. While the error is handled, its traceback keeps
    the adapter's frames alive, and with them a response that was not closed.
    """
    cases = {
        "HTTP 500 with a body": server_error(),
        "HTTP 500 with a long body": server_error(padding=200_000),
        "a clean end too early": ended_cleanly(sent(context, range(2))),
        "the connection closed midway": without_last_chunk(sent(context, range(2))),
        "an HTTP/1.0 body cut": close_delimited(sent(context, range(2))),
    }
    wire = context.target.wire
    if wire is not None:
        spoiled = (
            *context.bodies_if_any(error_bodies)[-1:],
            *context.bodies_if_any(malformed_bodies),
        )
        cases |= {body.name: context.response(body, Stall()) for body in spoiled}
    for name, response in cases.items():
        with context.case(name, response) as scenario:
            # Held until the verdict, as by an `except` block.
            log = scenario.read(hold_error=True)
            scenario.expect_released(f"the turn failed ({ending(log)})")


@check(
    "release/nothing-left",
    fix="close the response on every way out of a stream; let each of its threads and tasks end "
    "when it is closed or dropped: a thread that waits on a queue needs a way out",
    example=Example(
        "Many streams are left, in every way there is, and then as many again.",
        sends=bursting,
        consumer=f"leaves {_ROUND} streams by break, by close(), by a with-block, unread and by "
        "cancelling; then the same once more",
        fault="the second round adds a thread, a task or a socket for each of its streams",
    ),
)
def abandoned_streams_leave_nothing(context: ServedContext) -> None:
    """Abandoned streams leave no thread, task or socket behind.

    One leaked thread a stream is invisible in a test and fatal in a server after a day. The
    first round may start what an adapter keeps for good; the second must add nothing that
    grows with the number of streams.
    """
    with context.case("abandoned streams", bursting(context)) as scenario:
        _expect_no_growth(scenario, _abandon_by_every_style)
    rounds = {
        "failed turns": without_last_chunk(sent(context, range(2))),
        "HTTP 500": server_error(),
    }
    if context.target.wire is not None:
        rounds["whole turns"] = context.response(context.bodies(whole_bodies)[0])
    for name, response in rounds.items():
        with context.case(name, response) as scenario:
            _expect_no_growth(scenario, _read_turns)


@check(
    "release/many",
    fix="give each abandoned stream's connection back to the pool or close it, and never wait "
    "for a lock, a queue or the network in a finalizer",
    example=Example(
        "Many streams are dropped, with the garbage collector on.",
        sends=bursting,
        consumer="300 times: takes one event, breaks, drops the stream",
        fault="the pool is full, and a request waits for ever; or a finalizer waits for a lock. "
        "The stack is shown",
    ),
)
def many_abandoned_streams_do_not_deadlock(context: ServedContext) -> None:
    """Three hundred abandoned streams do not deadlock.

    A connection that leaks with each stream fills the client's pool, and the next request
    waits for ever. Finalizers that run inside the collector can deadlock on a lock that the
    interrupted code holds. 300 is where published adapters stopped.
    """
    gc.enable()  # as in a real program; the run restores it
    with context.case("", bursting(context)) as scenario:
        until = now() + PATIENCE * scenario.target.deadline
        for number in range(300):
            stream = scenario.started()
            stream.drop()
            if now() > until:
                raise Failure(
                    f"only {number} of 300 streams were left within "
                    f"{PATIENCE * scenario.target.deadline:.0f} s: leaving one waits for something."
                )
        scenario.expect_no_leak("the consumer abandoned its streams")


@check(
    "release/clean-next",
    fix="close a connection in mid-body instead of giving it back to the pool "
    "(urllib3's release_conn() does not close)",
    example=Example(
        "A second turn follows an abandoned one on the same model.",
        sends=lambda wire: left_half(wire, first=1000),
        then=lambda wire: silent_after(wire, 8),
        consumer="takes one event and breaks, or calls close(); streams again",
        fault="the second turn begins with what was left of the first: event 1001",
    ),
)
def next_turn_is_clean(context: ServedContext) -> None:
    """The turn after an abandoned one gives only its own events.

    A connection that goes back to the pool in mid-body hands the rest of the old answer to
    the next request; a buffer that is used again hands on half an event.
    """
    expected = context.plain_text(range(8))
    styles: dict[str, Callable[[Stream], object]] = {
        "after break": lambda stream: stream.drop(),
        "after close()": _leave_and_close,
    }
    for name, abandon in styles.items():
        with context.case(
            name, left_half(context, first=1000), silent_after(context, 8)
        ) as scenario:
            abandon(scenario.started())
            scenario.expect_no_leak("the consumer abandoned the first turn")
            expect_beginning(scenario.started().log, expected)


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


def _try_with_blocks(context: ServedContext, *ways_out: Callable[..., str]) -> None:
    for way_out in ways_out:
        name = way_out.__name__.strip("_").replace("_", " ")
        with context.case(f"closing(stream), {name}", flowing(context)) as scenario:
            stream = scenario.open()
            _expect_closable(stream)
            scenario.expect_released(way_out(stream, own_manager=False))
        with context.case(f"the stream's own with, {name}", flowing(context)) as scenario:
            stream = scenario.open()
            if not stream.is_manager:
                raise Skip("the stream is no context manager itself")
            scenario.expect_released(way_out(stream, own_manager=True))


def _leave_and_close(stream: Stream) -> None:
    stream.break_loop()
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


def _cancel(stream: Stream) -> None:
    if not stream.can_be_cancelled:
        _close(stream)  # as its consumer would
        return
    error = stream.cancel()
    if error is not None:
        raise Failure(f"cancelling raised {shown(error)} where cancel() was called.")


def _expect_no_finish(stream: Stream) -> None:
    if any(isinstance(event, Finish) for event in stream.log.events):
        raise Failure("a cancelled stream gave a Finish.")


def _close_twice(scenario: Scenario, stream: Stream) -> None:
    _close(stream)
    _close(stream)
    scenario.expect_no_leak("close()")


def _expect_nothing_more(scenario: Scenario, stream: Stream) -> None:
    """Iterate a closed stream: no exception, no event, no second request."""
    requests, events = len(scenario.backend.exchanges), len(stream.log.events)
    error = stream.take(1)
    if error is not None:
        raise Failure(f"iterating after close() raised {shown(error)}; expected no event.")
    if len(stream.log.events) > events:
        raise Failure(f"iterating after close() gave {stream.log.events[-1]!r}.")
    more = len(scenario.backend.exchanges) - requests
    if more:
        raise Failure(f"iterating after close() sent {count(more, 'request')} more.")
    scenario.expect_no_leak("close()")


def _cancel_blocked(scenario: Scenario, stream: Stream, text: str) -> None:
    """Cancel from outside while the reader, who has `text`, waits in the server's silence."""
    opening = stream.start("open")
    if not stream.can_be_cancelled:
        _expect_closable_from_elsewhere(scenario, stream, opening)
    reading = stream.start("drain")
    if text and not stream.log.progress.wait(1, scenario.target.deadline):
        raise Failure("the server sent events, and the consumer got none.")
    _wait_until_it_waits(scenario, stream)
    if stream.can_be_cancelled:
        _cancel(stream)
    else:
        error = stream.close_from_elsewhere().wait(scenario.target.deadline)
        if error is not None:
            raise Failure(f"close() from another thread raised {shown(error)}.")
    _expect_cancelled(stream, reading.wait(scenario.target.deadline))
    _expect_no_finish(stream)
    if not text.startswith(stream.log.text):
        raise Failure(f"a cancelled stream gave {stream.log.text!r}; {text!r} was sent.")
    scenario.expect_released("the stream was cancelled while its reader waited")


def _expect_closable_from_elsewhere(scenario: Scenario, stream: Stream, opening: Pending) -> None:
    if not opening.done:
        _wait_until_it_waits(scenario, stream)
    if not opening.done:
        raise Skip("stream() returns only once the first event is there, and takes no `cancel`")
    if stream.is_generator:
        raise Skip(
            "a generator cannot be closed while it runs; let `stream` take `cancel: CancelToken` "
            "or return a stream object"
        )
    _expect_closable(stream)


def _expect_cancelled(stream: Stream, error: BaseException | None) -> None:
    wanted = stream.cancelled_by
    if wanted is not None and not isinstance(error, wanted):
        came = "nothing" if error is None else shown(error)
        raise Failure(
            f"expected {wanted.__name__} to come out of the cancelled task, got {came}: the "
            "agent that awaited it runs on as if it had not been cancelled.",
            fix="let CancelledError through: no `except BaseException` or `except CancelledError` "
            "that returns, goes on or raises something else",
        )


def _cancel_unanswered(scenario: Scenario, stream: Stream) -> None:
    """Cancel where the request goes out: at the call, or when the first event is asked for."""
    waiting = [stream.start("open"), stream.start("take", 1)]
    scenario.wait_for_request()
    _wait_until_it_waits(scenario, stream)
    _cancel(stream)
    errors = [pending.wait(scenario.target.deadline) for pending in waiting]
    _expect_cancelled(stream, next((error for error in errors if error is not None), None))
    scenario.expect_released("the stream was cancelled before the server had answered")


def _wait_until_it_waits(scenario: Scenario, stream: Stream) -> None:
    """Wait until the reader is blocked: often enough that a busy machine let it get there."""
    for _ in range(8):
        stream.settle(scenario.target.deadline)


# Leaving many streams


def _expect_no_growth(scenario: Scenario, leave_streams: Callable[[Scenario], None]) -> None:
    leave_streams(scenario)
    scenario.expect_released("the consumer left its streams")
    kept = scenario.held()
    leave_streams(scenario)
    scenario.expect_released("the consumer left its streams")
    grown = _growth(scenario, kept)
    if grown:
        more = " and ".join(count(number, noun) for noun, number in grown.items())
        raise Failure(f"{more} more after {_ROUND} more streams in each style.")


def _abandon_by_every_style(scenario: Scenario) -> None:
    for _ in range(_ROUND):
        scenario.started().drop()
        stream = scenario.started()
        _leave_and_close(stream)
        stream.drop()
        stream = scenario.open()
        stream.within(own_manager=False, count=1, leave_by="break")
        stream.drop()
        stream = scenario.open()
        _close(stream)
        stream.drop()
        stream = scenario.started()
        _cancel(stream)
        stream.take(1)
        stream.drop()


def _read_turns(scenario: Scenario) -> None:
    for _ in range(_ROUND):
        scenario.read()


def _growth(scenario: Scenario, before: dict[str, int]) -> dict[str, int]:
    """Return what there is more of than before, by about one a stream, and stays."""

    def grown() -> dict[str, int]:
        # A pool of threads or connections may still grow by a few.
        more = {noun: number - before[noun] for noun, number in scenario.held().items()}
        return {noun: number for noun, number in more.items() if number > _ROUND // 2}

    until = now() + scenario.target.deadline
    while grown() and now() < until:
        pause(0.002)  # a thread's end signals nothing that could be waited for
    return grown()
