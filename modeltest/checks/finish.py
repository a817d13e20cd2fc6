"""finish: one, last, true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.assertions import (
    bytes_shown,
    expect_error,
    expect_one_finish,
    expect_raw,
    expect_sound,
    expect_turn,
    expect_usage,
)
from modeltest.backend import without_last_chunk
from modeltest.corpus import (
    absent_reason_bodies,
    after_finish_bodies,
    duplicate_bodies,
    error_bodies,
    finish_beside_content_bodies,
    reason_bodies,
    unknown_reason_bodies,
    usage_bodies,
    whole_bodies,
)
from modeltest.harness import Example, Failure, Need, check
from modeltest.interface import Finish, FinishReason
from modeltest.threads import shown

if TYPE_CHECKING:
    from modeltest.delivery import Scenario, ServedContext
    from modeltest.harness import Answer


FINISH_LAST = (
    "remember the reason when it comes, read on to the end of the turn, then give the one Finish"
)


@check(
    "finish/once-last",
    needs=(Need.WIRE,),
    fix=FINISH_LAST,
    example=Example(
        "Three lines belong to the end of this turn. They make one Finish.",
        case="text",
        sends=whole_bodies,
    ),
)
def finish_is_once_and_last(context: ServedContext) -> None:
    """A whole turn gives exactly one Finish, last; after an error nothing comes.

    An agent loop acts on the Finish. A second one runs the tools twice, and what follows one
    is lost.
    """
    whole = context.bodies(whole_bodies)
    for body in whole:
        context.deliver(body, _expect_one_sound_finish)
    for body in context.bodies_if_any(error_bodies):
        with context.case(body.name, context.response(body)) as scenario:
            _expect_end_with_error(scenario)
    steps = context.response(whole[0]).steps
    begun = steps[: len(whole[0].incomplete_prefixes()) - 1]
    with context.case("a broken connection", without_last_chunk(begun)) as scenario:
        _expect_end_with_error(scenario)


def _expect_one_sound_finish(answer: Answer) -> None:
    if answer.log.error is not None:
        said = shown(answer.log.error)
        raise Failure(f"a whole answer raised {said}.", (bytes_shown(answer.body),))
    expect_sound(expect_one_finish(answer.log))


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
    bodies=reason_bodies,
    fix="map each of the provider's reasons, and keep its word in Finish.raw",
    example=Example(
        "The answer was cut off by its limit: the reason is `length`, and never `stop`.",
        case="length",
    ),
)
def finish_reasons_are_mapped(answer: Answer) -> None:
    """Every finish reason of the provider becomes its neutral reason, its own word kept.

    Length or filtered reported as stop makes half an answer a whole one.
    """
    expect_raw(answer)


@check(
    "finish/unknown",
    bodies=unknown_reason_bodies,
    fix="where the provider's word is not known: Finish(reason=word, raw=word)",
    example=Example("The word is none of the format's.", case="an unknown finish reason"),
)
def unknown_finish_reason_is_passed_through(answer: Answer) -> None:
    """A finish reason that nobody knows is passed through, the text kept.

    Providers add reasons without notice. One taken for stop hides what happened; one that
    raises loses the answer.
    """
    finish = expect_raw(answer)
    if finish.reason != finish.raw:
        raise Failure(
            f"expected reason == raw, got {finish.reason!r} and {finish.raw!r}.",
            (bytes_shown(answer.body),),
        )


@check(
    "finish/absent",
    bodies=absent_reason_bodies,
    fix="a null or empty reason means that the turn goes on; where the end marker comes without "
    "a reason, the reason is stop",
    example=Example(
        "An empty reason in mid-stream ends nothing.", case="an empty reason before the finish"
    ),
)
def absent_finish_reason_is_stop(answer: Answer) -> None:
    """A turn that ends without a reason ends with stop; an empty one in mid-stream ends nothing.

    Compatible servers send null, "" or no reason at all where the original sends one.
    """
    expect_turn(answer)


@check(
    "finish/usage",
    bodies=usage_bodies,
    fix="keep the last totals that came, wherever they stand, and give them with the Finish; "
    "take cached tokens out of the input's count; read on after the reason",
    example=Example(
        "The counts grow from chunk to chunk, and only the last ones count. The 5 cached tokens "
        "are part of the prompt's 28.",
        case="usage on every event, growing",
    ),
)
def usage_is_reported_once(answer: Answer) -> None:
    """Usage is the last totals, in disjoint counts, wherever in the turn they came.

    Totals come after, on or before the reason, or growing on every chunk. Summed they bill
    double; missed they bill nothing; taken for the end they cut the answer.
    """
    expect_turn(answer)
    expect_usage(answer)


@check(
    "finish/after",
    bodies=after_finish_bodies,
    fix="raise StreamProtocolError for text or a call that comes after the end of the turn; a "
    "format whose readers stop at its finish event says so: stops_at_finish = True",
    example=Example("The turn is over, and goes on.", case="text after the finish"),
)
def content_after_finish_is_a_protocol_error(answer: Answer) -> None:
    """Text or a call after the end of the turn is an error.

    It belongs to another answer, or the end was none. Passed on, it lands in the wrong turn.
    """
    what = f"a body with {answer.body.name}"
    expect_error(answer, answer.log, what, bytes_shown(answer.body))


@check(
    "finish/duplicate",
    bodies=duplicate_bodies,
    fix=FINISH_LAST,
    example=Example("The same finish comes twice.", case="the finish twice"),
)
def duplicate_finish_is_reported_once(answer: Answer) -> None:
    """A finish or an end marker that comes twice gives one Finish.

    Proxies repeat the last chunk. The agent loop must not see two ends.
    """
    expect_turn(answer)


@check(
    "finish/empty",
    bodies=lambda wire: (wire.encode(Finish(FinishReason.STOP), name="no content"),),
    fix="let the provider's end of turn end it, whether or not anything was said before",
    example=Example("The model has nothing to say, and stops.", case="no content"),
)
def turn_without_content_is_a_turn(answer: Answer) -> None:
    """A turn that says nothing and ends is a turn: one Finish, no text, no error.

    A model may have nothing to add to the results of its tools. Taken for a failure, the turn is
    asked for again and again.
    """
    expect_turn(answer)


@check(
    "finish/with-content",
    bodies=finish_beside_content_bodies,
    fix="handle a chunk's content before its finish reason, and never skip one for the other",
    example=Example(
        "The last piece of the text and the reason share a chunk.",
        case="finish beside the last text",
    ),
)
def finish_beside_content_loses_nothing(answer: Answer) -> None:
    """A finish in the same event as the last content loses none of it.

    Short answers come in one chunk, text and reason together. `if finish: … elif text:` drops
    them whole.
    """
    expect_turn(answer)
