"""delivery: events come as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from modeltest.assertions import ending
from modeltest.backend import (
    Await,
    AwaitMore,
    End,
    Flood,
    Response,
    Send,
    Stall,
    Step,
    close_delimited,
    ended_cleanly,
    one_and_a_half,
    sent,
)
from modeltest.corpus import whole_bodies
from modeltest.encoding import Framing, Unsupported
from modeltest.harness import Example, Failure, Level, Need, Skip, check, count, hung, size
from modeltest.interface import Finish, FinishReason, TextDelta
from modeltest.threads import Hang, Progress

if TYPE_CHECKING:
    from modeltest.consumer import Stream
    from modeltest.delivery import Scenario, ServedContext
    from modeltest.encoding import WireFormat


Framed = Callable[[tuple[Step, ...]], Response]
"""Makes a response of its steps."""

Piece = tuple[bytes, int]
"""Bytes of one write, and how many events they end."""

SWALLOWED = 8 * 1024 * 1024
"""Bytes an adapter may take from the wire for a consumer that does not read."""

_PADDING = 16 * 1024
"""Bytes before each event of a flood, so that few events make many bytes."""

_TICKS = 10
"""Turns of another task, by which the event loop goes round."""

_BLOCKED_MOMENTS = 25
"""Looks, 10 ms apart at least, at which the peer took nothing. Each one needs the kit's own
thread to be scheduled, so that on a loaded machine the adapter's threads had their turns."""


def _two_half_events(wire: WireFormat) -> Response:
    """Return two events, each with half of the next behind it, and each waited for."""
    taken, half = Progress(), one_and_a_half(wire)
    return Response((*_piece_by_piece([(half(0), 1), (half(1), 1)], taken), Stall()))


@check(
    "delivery/prompt",
    fix="yield each event as soon as its blank line is read; take what has come (read1(), "
    "stream()) instead of filling a buffer (read(4096))",
    example=Example(
        "The next event is not sent until this one was taken. An adapter that waits for a full "
        "buffer, or for the line after the blank line, waits for ever.",
        sends=_two_half_events,
        others=("chunked", "HTTP/1.0", "two events a write"),
    ),
)
def events_arrive_as_sent(context: ServedContext) -> None:
    """Each event reaches the consumer before the next one is sent.

    Streaming is the point. A fixed read buffer, or a reader that waits for the next event to
    know that this one is over, shows its user a frozen screen.
    """
    one, half = context.event, one_and_a_half(context)
    cases: dict[str, tuple[Framed, list[Piece]]] = {
        "chunked": (ended_cleanly, [(one(index), 1) for index in range(6)]),
        "HTTP/1.0": (close_delimited, [(one(index), 1) for index in range(6)]),
        "two events a write": (
            ended_cleanly,
            [(one(index) + one(index + 1), 2) for index in (0, 2, 4)],
        ),
        "half of the next event behind each": (
            ended_cleanly,
            [(half(index), 1) for index in range(6)],
        ),
    }
    silent = context.says_nothing_first()
    for name, (framed, pieces) in cases.items():
        arrived = Progress()
        with context.case(name, framed((*_piece_by_piece(pieces, arrived), Stall()))) as scenario:
            stream = scenario.open()
            number = 0
            for _, ends in pieces:
                number += ends
                if ends == 1:
                    _expect_events(scenario, stream, number, silent)
                else:
                    _expect_text(scenario, stream, number, _said_by(context, number))
                arrived.advance()


@check(
    "delivery/bounded",
    Level.SHOULD,
    fix="give the queue between reader and consumer a size (`queue.Queue(maxsize=16)`), so that "
    "a full one stops the reading",
    example=Example(
        "The server sends as fast as it is read.",
        server=f"{_PADDING // 1024} KiB of comments and an event, again and again",
        consumer="takes one event, and then no other",
        fault=f"the adapter reads on, beyond {SWALLOWED // 1024**2} MiB",
    ),
)
def unread_events_stay_on_the_wire(context: ServedContext) -> None:
    """A consumer that pauses makes the server wait.

    A reader that runs ahead without limit turns a slow consumer into a process that runs
    out of memory.
    """
    limit = SWALLOWED + _kernel_buffer()
    padding = _padding(context)
    with context.case(
        "", Response((Flood(lambda i: padding + context.event(i), limit),))
    ) as scenario:
        stream = scenario.open()
        stream.take(1)
        if not (stream.log.events and scenario.backend.exchanges):
            # A reader without comments, or an answer that did not come from the backend: other
            # checks judge that.
            what = "a comment" if context.framing is Framing.SSE else "empty lines"
            raise Skip(f"no event came of one that follows {what} ({ending(stream.log)})")
        exchange = scenario.backend.exchanges[0]
        exchange.wait(
            lambda: (
                exchange.disconnected is not None
                or exchange.blocked >= _BLOCKED_MOMENTS
                or exchange.sent_bytes >= limit
            ),
            # Megabytes take their time on a loaded machine; an adapter that stops, stops soon.
            scenario.target.deadline * 30,
        )
        if exchange.sent_bytes >= limit:
            raise Failure(
                f"the adapter took {size(exchange.sent_bytes)} from the wire while its consumer "
                f"had read {len(stream.log.events)} event; expected it to stop below "
                f"{size(SWALLOWED)} and what the kernel buffers."
            )


@check(
    "delivery/end",
    needs=(Need.WIRE,),
    fix="end the iteration at the provider's end of turn; do not wait for the end of the body, or "
    "only for as long as it is there already",
    example=Example(
        "The answer is whole, but the body does not end.",
        sends=lambda wire: Response(
            (Send(wire.encode(TextDelta("Hello"), Finish(FinishReason.STOP)).data), Stall())
        ),
    ),
)
def turn_ends_at_marker(context: ServedContext) -> None:
    """The turn ends at the provider's end marker, though the connection stays open.

    Proxies hold connections. A reader that waits for the end of the body keeps its user waiting
    for an answer that is there.
    """
    wire = context.target.wire
    if not wire.end_marker:
        raise Skip(f"{wire.name}: nothing but the end of the body ends a turn (end_marker)")
    for body in context.bodies(whole_bodies):
        with context.case(body.name, context.response(body, Stall())) as scenario:
            _expect_end(scenario)


@check(
    "delivery/loop",
    Level.SHOULD,
    needs=(Need.EVENT_LOOP,),
    fix="await whatever waits: an asynchronous HTTP client, `asyncio.sleep`, `asyncio.to_thread` "
    "around a call that blocks; no requests, no `time.sleep`, no `threading.Lock` in a coroutine",
    example=Example(
        "Another task counts its turns. What comes next is not sent before it had some more.",
        server="waits for the turns; sends the head, waits, an event, waits, half an event, "
        "waits, the other half",
        consumer="reads the answer, while another task of its event loop wakes every few "
        "milliseconds",
        fault="the adapter blocks the event loop, so the other task has no turn and the server "
        "sends no more",
    ),
)
def event_loop_stays_responsive(context: ServedContext) -> None:
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


def _expect_end(scenario: Scenario) -> None:
    """Expect that the turn is read to an end; to which one is judged elsewhere."""
    try:
        scenario.read()
    except Hang as hang:
        statement = f"the turn was sent whole, and the iteration did not end: {hang}. The server "
        raise hung(hang, f"{statement}keeps the connection open.") from None


def _slow_answer(context: ServedContext, ticks: Progress) -> Response:
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


def _said_by(context: ServedContext, events: int) -> str:
    """Return all that the adapter makes of the first events when they are sent at once."""
    with context.apart(ended_cleanly(sent(context, range(events)))) as scenario:
        scenario.set_up()
        return "".join(scenario.read().texts)


def _expect_events(scenario: Scenario, stream: Stream, number: int, silent: int) -> None:
    """Expect a delta for each of the first events, but for those that say nothing."""
    while len(stream.log.events) < number - silent:
        _take_one(scenario, stream, number)


def _expect_text(scenario: Scenario, stream: Stream, number: int, text: str) -> None:
    """Expect what the first events say; of one write an adapter may make one delta."""
    while len("".join(stream.log.texts)) < len(text):
        _take_one(scenario, stream, number)


def _take_one(scenario: Scenario, stream: Stream, number: int) -> None:
    taken = len(stream.log.events)
    try:
        scenario.take(stream, 1)
    except Hang as hang:
        raise hung(
            hang,
            f"event {number} is held back: the server has sent it and waits until the consumer "
            f"has it; after {hang.seconds:.1f} s it has {count(taken, 'event')}.",
        ) from None


def _padding(context: ServedContext) -> bytes:
    """Return bytes that a reader passes over.

    Raises:
        Skip: the framing has none.
    """
    if context.framing is Framing.SSE:
        return (b": " + b"." * 1021 + b"\n") * (_PADDING // 1024)
    try:
        return context.keep_alive * (_PADDING // len(context.keep_alive))
    except Unsupported as refusal:
        raise Skip(str(refusal)) from None


def _piece_by_piece(pieces: Iterable[Piece], arrived: Progress) -> Iterator[Step]:
    """Yield the steps that send each piece once all before it have arrived."""
    for number, (data, ends) in enumerate(pieces, 1):
        yield Send(data, events=ends)
        yield Await(arrived, number)


def _kernel_buffer() -> int:
    """Return how many bytes the receiving kernel may hold for a client that reads nothing.

    Linux says it; elsewhere the largest usual default is assumed.
    """
    try:
        largest = int(Path("/proc/sys/net/ipv4/tcp_rmem").read_text("ascii").split()[2])
    except (OSError, ValueError, IndexError):
        largest = 8 * 1024 * 1024
    return largest
