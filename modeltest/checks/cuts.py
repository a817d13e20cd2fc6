"""truncation: every cut of every body, where the wire says what a whole answer is."""

from __future__ import annotations

from collections.abc import Iterator

from modeltest import corpus
from modeltest.assertions import (
    Reading,
    answer,
    bodies_or_none,
    bodies_or_skip,
    expect_answer,
    expect_refusal,
    expect_refused,
    reading,
    sends,
    wire_shown,
)
from modeltest.backend import (
    Progress,
    Response,
    Step,
    close_delimited,
    ended_cleanly,
    inside_chunk,
    reset,
    short_of_length,
    without_last_chunk,
)
from modeltest.consumer import Log
from modeltest.delivery import CheckContext, Scenario, body_reader
from modeltest.harness import Evidence, Failure, Need, check, count
from modeltest.interface import FinishReason, ProtocolError
from modeltest.wire import Body

WIRE = (Need.WIRE,)
END_OF_TURN = (
    "give the Finish only once the provider's own end of turn was read whole; a body that ends "
    "before it fails, whatever came until then"
)


@check(
    "truncation/boundaries",
    needs=WIRE,
    fix=END_OF_TURN,
)
def every_event_boundary_is_an_error(context: CheckContext) -> None:
    """An answer that ends between two events is an error, in whichever way it ends.

    Between events is where servers die. Nothing is torn there, and only the missing end of
    the turn shows.
    """
    for body in corpus.short_bodies(context.target.wire):
        for number in range(len(body.incomplete_prefixes())):
            steps = sends(body)[:number]
            _try_endings(context, f"{body.name}, after {count(number, 'event')}", steps, body)
    for body in bodies_or_none(lambda: corpus.incomplete_endings(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            expect_refused(scenario, f"a body with {body.name}", None, wire_shown(body))


@check(
    "truncation/prefix",
    needs=WIRE,
    fix=END_OF_TURN,
)
def every_prefix_is_an_error_or_the_same_turn(context: CheckContext) -> None:
    """An answer cut at any byte is an error, or the same turn as the whole one.

    Official readers took between 490 and 1,038 of about 1,000 cut answers for whole but
    different ones.
    """
    tried: list[bytes] = []
    for body in corpus.short_bodies(context.target.wire):
        with context.case(body.name, answer(context, body)) as scenario:
            whole = expect_answer(body, scenario.read())
            with body_reader(scenario, context.target.wire.content_type) as read:
                for cut in _cuts(body.data):
                    # What two bodies begin with need not be cut twice.
                    if not any(other.startswith(cut) for other in tried):
                        _expect_error_or_same(scenario, cut, body.data, whole, read(cut))
        tried.append(body.data)


@check(
    "truncation/arguments",
    needs=WIRE,
    fix="parse the arguments once, when the turn has ended; what does not parse is an error, "
    "whatever the finish reason says",
)
def truncated_tool_call_is_an_error(context: CheckContext) -> None:
    """A tool call whose arguments are cut is never a complete call.

    Repaired, defaulted to `{}` or cut at a number's digit, it runs a tool with values that
    nobody gave: `{"days": 3` of `{"days": 30}`.
    """
    for body in bodies_or_skip(lambda: corpus.cut_argument_bodies(context.target.wire)):
        progress = Progress()
        for how, response in _two_ends(body, progress).items():
            with context.case(f"{body.name}, {how}", response) as scenario:
                _expect_no_call(scenario, body, scenario.read(progress))


@check(
    "truncation/good-endings",
    needs=WIRE,
    fix="accept each ending that the provider calls complete; be strict about the end of the "
    "turn, not about what may follow it",
)
def complete_endings_are_accepted(context: CheckContext) -> None:
    """Every ending that the format calls complete gives the turn.

    The other side of the coin: an adapter that calls whole answers cut is no use either.
    """
    for body in bodies_or_skip(lambda: corpus.good_endings(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            expect_answer(body, scenario.read())
        closing = close_delimited(sends(body))
        with context.case(f"{body.name}, close-delimited", closing) as scenario:
            expect_answer(body, scenario.read())


# Judging cuts


def _cuts(data: bytes) -> Iterator[bytes]:
    return (data[:length] for length in range(len(data)))


def _expect_error_or_same(
    scenario: Scenario, cut: bytes, data: bytes, whole: Reading, log: Log
) -> None:
    what = f"the answer cut after {len(cut)} of {len(data)} bytes"
    try:
        if log.error is not None:
            expect_refusal(scenario, log, what)
        else:
            _expect_same(log, what, whole)
    except Failure as failure:
        evidence = Evidence("cut", _around(data, len(cut))), Evidence("whole", repr(whole))
        raise failure.with_evidence(evidence) from None


def _expect_same(log: Log, what: str, whole: Reading) -> None:
    try:
        got = reading(log)
    except ProtocolError:
        return  # the agent loop learns of it when it assembles the turn
    # Usage may come after the end of the turn, and so be cut off.
    if got.finish is not None and _essence(got) != _essence(whole):
        raise Failure(
            f"{what} was taken for a finished answer, and another one.",
            (Evidence("got", repr(got)),),
        )


def _essence(whole: Reading) -> tuple[object, ...]:
    reason = str(whole.finish.reason) if whole.finish is not None else ""
    return whole.text, whole.reasoning, whole.calls, reason


def _around(data: bytes, length: int) -> str:
    return f"{data[max(0, length - 60) : length]!r} | {data[length : length + 40]!r}"


# Endings


def _try_endings(context: CheckContext, name: str, steps: tuple[Step, ...], body: Body) -> None:
    taken: list[int] = []
    for how, end in {
        "ended cleanly": ended_cleanly,
        "close-delimited": close_delimited,
        "closed before the last chunk": without_last_chunk,
        "closed inside a chunk": inside_chunk,
        "short of its Content-Length": short_of_length,
    }.items():
        with context.case(f"{name}, {how}", end(steps)) as scenario:
            log = scenario.read()
            taken.append(len(log.events))
            expect_refusal(
                scenario, log, "an answer that ended between two events", wire_shown(body)
            )
    # Reset once the adapter has given all that it gives of the steps, in whichever way they end.
    progress = Progress()
    with context.case(f"{name}, reset", reset(steps, progress, max(taken, default=0))) as scenario:
        expect_refused(scenario, "an answer reset between two events", progress, wire_shown(body))


def _two_ends(body: Body, progress: Progress) -> dict[str, Response]:
    """Return the body ended cleanly, and reset once the consumer can have nothing more."""
    steps = sends(body)
    ends = {"ended cleanly": ended_cleanly(steps)}
    if body.finish is None:
        ends["reset"] = reset(steps, progress, len(body.events))
    return ends


def _expect_no_call(scenario: Scenario, body: Body, log: Log) -> None:
    """Expect that the turn fails, in the adapter or in the agent loop that assembles it."""
    if log.error is not None:
        expect_refusal(scenario, log, f"a cut call ({body.name})", wire_shown(body))
        return
    try:
        got = reading(log)
    except ProtocolError:
        return
    if got.finish is not None and str(got.finish.reason) != FinishReason.LENGTH:
        raise Failure(
            "a turn whose call was cut was taken for a finished answer.",
            (Evidence("got", repr(got)), wire_shown(body)),
        )
    if got.calls and got.finish is not None:
        raise Failure(
            "a call was given although its arguments were cut.",
            (Evidence("got", repr(got)), wire_shown(body)),
        )
