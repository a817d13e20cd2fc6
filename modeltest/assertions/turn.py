"""A whole turn: what the wire format says that a body means, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeltest.assertions.assembly import Assembler, check_finish
from modeltest.assertions.refusal import expect_refusal
from modeltest.assertions.report import bytes_shown, ending, quoted
from modeltest.encoding import Role
from modeltest.harness import Evidence, Failure
from modeltest.interface import Finish, ProtocolError, ReasoningDelta, ToolCallDelta
from modeltest.threads import shown

if TYPE_CHECKING:
    from modeltest.encoding import Body
    from modeltest.harness import Answer, Transcript
    from modeltest.interface import Event


@dataclass(frozen=True)
class Content:
    """What a turn says, without how it was cut into deltas.

    Attributes:
        text: all text, joined.
        reasoning: its text, its signatures and its opaque blocks, each joined.
        calls: each call's name and parsed arguments, in order.
        finish: the Finish, or None.
    """

    text: str
    reasoning: tuple[str, ...]
    calls: tuple[tuple[str, Any], ...]
    finish: Finish | None


def content_of(events: Iterable[Event]) -> Content:
    """Return what `events` say.

    Raises:
        ProtocolError: they contradict each other, or a call's arguments are no JSON object.
    """
    assembler = Assembler()
    finishes: list[Finish] = []
    thoughts: list[ReasoningDelta] = []
    for event in events:
        assembler.add(event)
        if isinstance(event, Finish):
            finishes.append(event)
        elif isinstance(event, ReasoningDelta):
            thoughts.append(event)
    message = assembler.message()
    parts = (
        "".join(thought.text for thought in thoughts),
        "".join(thought.signature for thought in thoughts),
        "".join(thought.redacted for thought in thoughts),
    )
    return Content(
        message.text,
        parts if any(parts) else (),
        tuple((call.name, dict(call.arguments)) for call in message.tool_uses),
        finishes[0] if finishes else None,
    )


def expect_turn(answer: Answer) -> None:
    """Expect that the adapter made of the body what the format means by it.

    A body that fails, or does not end its turn, must be refused; any other must give its text,
    its calls and one Finish with its reason.

    Raises:
        Failure: with the body and both readings.
    """
    body = answer.body
    if body.error is not None or body.finish is None or body.first(Role.MALFORMED) is not None:
        what = f"a body that is no whole answer ({body.name})"
        expect_refusal(answer, answer.log, what, bytes_shown(body))
        return
    expect_answer(answer)


def expect_answer(answer: Answer) -> Content:
    """Expect the text, the calls and the finish of the body; return what came.

    Raises:
        Failure: with the body and both readings.
    """
    body, log = answer.body, answer.log
    if log.error is not None:
        raise Failure(f"a whole answer raised {shown(log.error)}.", (bytes_shown(body),))
    try:
        got = content_of(log.events)
    except ProtocolError as error:
        raise Failure(f"the events contradict each other: {error}.", (bytes_shown(body),)) from None
    wanted = content_of(body.events)
    if got.text != wanted.text:
        raise _differ(body, "text", wanted.text, got.text)
    if got.reasoning and got.reasoning != wanted.reasoning:
        # An adapter may leave it out. Half of it, or without its signature, is of no use: the
        # provider refuses it when it is sent back.
        raise _differ(body, "reasoning", wanted.reasoning, got.reasoning)
    if got.calls != wanted.calls:
        raise _differ(body, "tool calls", wanted.calls, got.calls)
    _expect_finish(body, log, got.finish)
    return got


def expect_one_finish(log: Transcript) -> Finish:
    """Expect exactly one Finish, and that it came last; return it.

    Raises:
        Failure: with what came.
    """
    finishes = [event for event in log.events if isinstance(event, Finish)]
    if len(finishes) != 1:
        raise Failure(f"expected exactly one Finish, got {len(finishes)}: {ending(log)}.")
    if log.events[-1] is not finishes[0]:
        raise Failure(f"expected the Finish last, got {log.events[-1]!r} after it.")
    return finishes[0]


def expect_raw(answer: Answer) -> Finish:
    """Expect the turn, and the provider's own word in `Finish.raw`; return the Finish.

    Raises:
        Failure: with both words.
    """
    expect_answer(answer)
    finish, body = expect_one_finish(answer.log), answer.body
    expect_sound(finish)
    if finish.raw not in body.accepted_raws:
        wanted = " or ".join(map(repr, sorted(body.accepted_raws)))
        raise Failure(
            f"expected the provider's own word {wanted} in Finish.raw, got {finish.raw!r}.",
            (bytes_shown(body),),
        )
    return finish


def expect_sound(finish: Finish) -> None:
    """Expect what holds of every Finish: see `check_finish`.

    Raises:
        Failure: with what does not hold.
    """
    try:
        check_finish(finish)
    except AssertionError as error:
        raise Failure(f"{error}.") from None


def expect_usage(answer: Answer) -> None:
    """Expect the token counts of the body, where it ends its turn.

    Raises:
        Failure: with both counts.
    """
    body = answer.body
    if body.finish is None:
        return
    finish = expect_one_finish(answer.log)
    if finish.usage != body.finish.usage:
        raise Failure(
            "the usage is not what was sent.",
            (
                Evidence("expected", str(body.finish.usage)),
                Evidence("got", str(finish.usage)),
                bytes_shown(body),
            ),
        )
    expect_sound(finish)


def expect_ids(answer: Answer) -> None:
    """Expect the ids of the body's calls; where it sends none, they may be any.

    Raises:
        Failure: with both.
    """
    body = answer.body
    wanted, got, data = _ids(body.events), _ids(answer.log.events), body.data
    if got != wanted and all(id_.encode() in data for id_ in wanted):
        raise Failure(f"expected the calls' ids {wanted}, got {got}.", (bytes_shown(body),))


def _ids(events: Iterable[Event]) -> list[str]:
    """Return the different ids of the calls, in the order they came."""
    calls = (event for event in events if isinstance(event, ToolCallDelta))
    return list(dict.fromkeys(call.id for call in calls if call.id))


def tool_names(body: Body) -> list[str]:
    """Return the names of the tools that `body` calls."""
    return [e.name for e in body.events if isinstance(e, ToolCallDelta) and e.name]


def _expect_finish(body: Body, log: Transcript, finish: Finish | None) -> None:
    if finish is None:
        raise Failure(
            f"expected a Finish ({body.finish!r}), got none: {ending(log)}.", (bytes_shown(body),)
        )
    expect_one_finish(log)
    if str(finish.reason) not in body.accepted_reasons:
        raise _differ(body, "reason", " or ".join(sorted(body.accepted_reasons)), finish.reason)


_WHOLE = {
    "text": "yield every piece of text as it is: white space is text, and so is a piece that "
    "equals the one before it; handle a chunk's content before its finish reason; if the body "
    "means something else, correct the wire",
    "reasoning": "yield reasoning whole, its signature and its opaque blocks included, or leave "
    "it out: the provider refuses half of it when it is sent back",
}
"""What of the answer differs → how to fix it."""


def _differ(body: Body, what: str, wanted: object, got: object) -> Failure:
    return Failure(
        f"the answer's {what}: not what was sent.",
        (
            Evidence("expected", quoted(wanted)),
            Evidence("got", quoted(got)),
            bytes_shown(body),
        ),
        fix=_WHOLE.get(what, ""),
    )
