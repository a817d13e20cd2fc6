"""finish: one, last, true."""

from __future__ import annotations

from collections.abc import Iterable

from modeltest import corpus
from modeltest.assertions import (
    answer,
    bodies_or_none,
    bodies_or_skip,
    expect_answer,
    expect_error,
    expect_meaning,
    expect_one_finish,
    expect_raw,
    expect_usage,
    sends,
    wire_shown,
)
from modeltest.backend import without_last_chunk
from modeltest.consumer import Log
from modeltest.delivery import CheckContext, Scenario
from modeltest.harness import Failure, Need, check, shown
from modeltest.interface import Finish, check_finish
from modeltest.wire import Body

WIRE = (Need.WIRE,)
FINISH_LAST = (
    "remember the reason when it comes, read on to the end of the turn, then give the one Finish"
)


@check("finish/once-last", needs=WIRE, fix=FINISH_LAST)
def finish_is_once_and_last(context: CheckContext) -> None:
    """A whole turn gives exactly one Finish, last; after an error nothing comes.

    An agent loop acts on the Finish. A second one runs the tools twice, and what follows one
    is lost.
    """
    wire = context.target.wire
    for body in corpus.whole_bodies(wire):
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            if log.error is not None:
                raise Failure(f"a whole answer raised {shown(log.error)}.", (wire_shown(body),))
            _expect_sound(expect_one_finish(log))
    for body in bodies_or_none(lambda: corpus.error_bodies(wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            _expect_end_with_error(scenario)
    (text, *_) = corpus.whole_bodies(wire)
    begun = sends(text)[: len(text.incomplete_prefixes()) - 1]
    with context.case("a broken connection", without_last_chunk(begun)) as scenario:
        _expect_end_with_error(scenario)


def _expect_end_with_error(scenario: Scenario) -> None:
    stream = scenario.stream()
    if stream.open() is not None:
        return  # raised at the call: there is no stream to go on with
    stream.drain()
    taken = len(stream.log.events)
    if stream.log.error is not None:
        stream.take(1)
    if len(stream.log.events) > taken:
        raise Failure(f"after its error the stream gave {stream.log.events[taken]!r}.")


@check(
    "finish/reasons",
    needs=WIRE,
    fix="map each of the provider's reasons, and keep its word in Finish.raw",
)
def finish_reasons_are_mapped(context: CheckContext) -> None:
    """Every finish reason of the provider becomes its neutral reason, its own word kept.

    Length or filtered reported as stop makes half an answer a whole one.
    """
    for body in bodies_or_skip(lambda: corpus.reason_bodies(context.target.wire)):
        with context.case(f"reason {body.name}", answer(context, body)) as scenario:
            _expect_raw(body, scenario.read())


@check(
    "finish/unknown",
    needs=WIRE,
    fix="where the provider's word is not known: Finish(reason=word, raw=word)",
)
def unknown_finish_reason_is_passed_through(context: CheckContext) -> None:
    """A finish reason that nobody knows is passed through, the text kept.

    Providers add reasons without notice. One taken for stop hides what happened; one that
    raises loses the answer.
    """
    for body in bodies_or_skip(lambda: corpus.unknown_reason_bodies(context.target.wire)):
        with context.case("", answer(context, body)) as scenario:
            finish = _expect_raw(body, scenario.read())
            if finish.reason != finish.raw:
                raise Failure(
                    f"expected reason == raw, got {finish.reason!r} and {finish.raw!r}.",
                    (wire_shown(body),),
                )


@check(
    "finish/absent",
    needs=WIRE,
    fix="a null or empty reason means that the turn goes on; where the end marker comes without "
    "a reason, the reason is stop",
)
def absent_finish_reason_is_stop(context: CheckContext) -> None:
    """A turn that ends without a reason ends with stop; an empty one in mid-stream ends nothing.

    Compatible servers send null, "" or no reason at all where the original sends one.
    """
    _try_all(context, bodies_or_skip(lambda: corpus.absent_reason_bodies(context.target.wire)))


@check(
    "finish/usage",
    needs=WIRE,
    fix="keep the last totals that came, wherever they stand, and give them with the Finish; "
    "take cached tokens out of the input's count; read on after the reason",
)
def usage_is_reported_once(context: CheckContext) -> None:
    """Usage is the last totals, in disjoint counts, wherever in the turn they came.

    Totals come after, on or before the reason, or growing on every chunk. Summed they bill
    double; missed they bill nothing; taken for the end they cut the answer.
    """
    for body in bodies_or_skip(lambda: corpus.usage_bodies(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            expect_meaning(scenario, body, log)
            if body.finish is not None:
                _expect_usage(body, expect_one_finish(log))


@check(
    "finish/after",
    needs=WIRE,
    fix="raise StreamProtocolError for text or a call that comes after the end of the turn; a "
    "format whose readers stop at its finish event says so: stops_at_finish = True",
)
def content_after_finish_is_a_protocol_error(context: CheckContext) -> None:
    """Text or a call after the end of the turn is an error.

    It belongs to another answer, or the end was none. Passed on, it lands in the wrong turn.
    """
    for body in bodies_or_skip(lambda: corpus.after_finish_bodies(context.target.wire)):
        with context.case(body.name, answer(context, body)) as scenario:
            log = scenario.read()
            expect_error(scenario, log, f"a body with {body.name}", wire_shown(body))


@check("finish/duplicate", needs=WIRE, fix=FINISH_LAST)
def duplicate_finish_is_reported_once(context: CheckContext) -> None:
    """A finish or an end marker that comes twice gives one Finish.

    Proxies repeat the last chunk. The agent loop must not see two ends.
    """
    _try_all(context, bodies_or_skip(lambda: corpus.duplicate_bodies(context.target.wire)))


@check(
    "finish/with-content",
    needs=WIRE,
    fix="handle a chunk's content before its finish reason, and never skip one for the other",
)
def finish_beside_content_loses_nothing(context: CheckContext) -> None:
    """A finish in the same event as the last content loses none of it.

    Short answers come in one chunk, text and reason together. `if finish: … elif text:` drops
    them whole.
    """
    _try_all(
        context, bodies_or_skip(lambda: corpus.finish_beside_content_bodies(context.target.wire))
    )


def _try_all(context: CheckContext, bodies: Iterable[Body]) -> None:
    for body in bodies:
        with context.case(body.name, answer(context, body)) as scenario:
            expect_meaning(scenario, body, scenario.read())


def _expect_raw(body: Body, log: Log) -> Finish:
    expect_answer(body, log)
    finish = expect_one_finish(log)
    _expect_sound(finish)
    expect_raw(body, finish)
    return finish


def _expect_usage(body: Body, finish: Finish) -> None:
    expect_usage(body, finish)
    _expect_sound(finish)


def _expect_sound(finish: Finish) -> None:
    try:
        check_finish(finish)
    except AssertionError as error:
        raise Failure(f"{error}.") from None
