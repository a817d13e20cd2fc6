"""delivery: events come as they are sent."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from modeltest.backend import Await, Flood, Progress, Response, Stall, Step
from modeltest.checks.check import Level, check
from modeltest.checks.failure import Failure, size
from modeltest.checks.scripts import close_delimited, ended_cleanly, sent
from modeltest.checks.trial import Trial
from modeltest.consumer import Hang

SWALLOWED = 8 * 1024 * 1024
"""Bytes an adapter may take from the wire for a consumer that does not read."""

_PADDING = b": " + b"." * 2046 + b"\n"
"""A comment before each event of a flood, so that few events make many bytes."""

_BLOCKED_MOMENTS = 25
"""Looks, 10 ms apart at least, at which the peer took nothing. Each one needs the kit's own
thread to be scheduled, so that on a loaded machine the adapter's threads had their turns."""


@check(
    "delivery/prompt",
    "test_events_arrive_as_sent",
    fix="hand each event on as soon as its blank line is read; take what has come (read1(), "
    "stream()) instead of filling a buffer (read(4096))",
)
def events_arrive_as_sent(trial: Trial) -> None:
    """Each event reaches the consumer before the next one is sent.

    Streaming is the point. A fixed read buffer, or a reader that waits for the next event to
    know that this one is over, shows its user a frozen screen.
    """
    for name, framed in {"chunked": ended_cleanly, "HTTP/1.0": close_delimited}.items():
        progress = Progress()
        script = framed((*_one_at_a_time(trial, progress, 6), Stall()))
        with trial.case(name, script) as case:
            stream = case.open(progress)
            for number in range(1, 7):
                try:
                    case.take(stream, 1)
                except Hang as hang:
                    raise Failure(
                        f"event {number} is held back: the server has sent it and waits until "
                        f"the consumer has it; after {hang.seconds:.1f} s it has "
                        f"{len(stream.log.events)}.",
                        hung=True,
                    ) from None


@check(
    "delivery/bounded",
    "test_unread_events_stay_on_the_wire",
    Level.SHOULD,
    fix="give the queue between reader and consumer a size (`queue.Queue(maxsize=16)`), so that "
    "a full one stops the reading",
)
def unread_events_stay_on_the_wire(trial: Trial) -> None:
    """A consumer that pauses makes the server wait.

    A reader that runs ahead without limit turns a slow consumer into a process that runs
    out of memory.
    """
    limit = SWALLOWED + _kernel_buffer()
    with trial.case("", Response((Flood(lambda i: _PADDING + trial.event(i), limit),))) as case:
        stream = case.started()
        exchange = case.backend.exchanges[0]
        exchange.wait(
            lambda: (
                exchange.left is not None
                or exchange.blocked >= _BLOCKED_MOMENTS
                or exchange.sent_bytes >= limit
            ),
            case.subject.deadline,
        )
        if exchange.sent_bytes >= limit:
            raise Failure(
                f"the adapter took {size(exchange.sent_bytes)} from the wire while its consumer "
                f"had read {len(stream.log.events)} event; expected it to stop below "
                f"{size(SWALLOWED)} and what the kernel buffers."
            )


def _one_at_a_time(trial: Trial, progress: Progress, number: int) -> Iterable[Step]:
    return chain.from_iterable(
        (*sent(trial, [index]), Await(progress, index + 1)) for index in range(number)
    )


def _kernel_buffer() -> int:
    """Return how many bytes the receiving kernel may hold for a client that reads nothing.

    Linux says it; elsewhere the largest usual default is assumed.
    """
    try:
        largest = int(Path("/proc/sys/net/ipv4/tcp_rmem").read_text("ascii").split()[2])
    except (OSError, ValueError, IndexError):
        largest = 8 * 1024 * 1024
    return largest
