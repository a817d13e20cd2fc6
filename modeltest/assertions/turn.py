"""Judging what an adapter made of a whole body, where the wire says what it means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from modeltest.assertions.refusal import expect_refusal
from modeltest.backend import Response, Send, Step, ended_cleanly, events, sent
from modeltest.consumer import Log
from modeltest.delivery import CheckContext, Scenario, ending
from modeltest.harness import Evidence, Failure, Skip, shown
from modeltest.interface import (
    Assembler,
    Event,
    Finish,
    FinishReason,
    ProtocolError,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from modeltest.wire import Body, Role, Unsupported

_SHOWN = 300
"""Characters of a body or an answer that a failure shows."""


@dataclass(frozen=True)
class Reading:
    """An answer as an agent loop sees it, without how it was cut into deltas.

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


def reading(log: Log) -> Reading:
    """Return what the events of `log` say.

    Raises:
        ProtocolError: they contradict each other, or a call's arguments are no JSON object.
    """
    assembler = Assembler()
    for event in log.events:
        assembler.add(event)
    message = assembler.message()
    finishes = [event for event in log.events if isinstance(event, Finish)]
    thoughts = [event for event in log.events if isinstance(event, ReasoningDelta)]
    parts = (
        "".join(thought.text for thought in thoughts),
        "".join(thought.signature for thought in thoughts),
        "".join(thought.redacted for thought in thoughts),
    )
    return Reading(
        message.text,
        parts if any(parts) else (),
        tuple((call.name, dict(call.arguments)) for call in message.tool_uses),
        finishes[0] if finishes else None,
    )


def sends(body: Body) -> tuple[Send, ...]:
    """Return the steps that send `body`, one event a write."""
    return events(body.chunks)


def answer(context: CheckContext, body: Body, *ending_steps: Step) -> Response:
    """Return the response that sends `body`, one event a write, and then plays more steps."""
    return Response((*sends(body), *ending_steps), content_type=context.target.wire.content_type)


def ordinary_answer(context: CheckContext, *texts: str, first: int = 0) -> Response:
    """Return a whole answer of these texts; without a wire one that is cut, after two events.

    Args:
        context: says what the provider's answers look like.
        texts: what it says, where there is a wire.
        first: number of the first event, where there is none.
    """
    wire = context.target.wire
    if wire is None:
        return ended_cleanly(sent(context, range(first, first + 2)))
    return answer(context, wire.encode(*map(TextDelta, texts), Finish(FinishReason.STOP)))


def expect_meaning(scenario: Scenario, body: Body, log: Log) -> None:
    """Expect that the adapter made of `body` what the format means by it.

    A body that fails, or does not end its turn, must be refused; any other must give its text,
    its calls and one Finish with its reason.

    Raises:
        Failure: with the body and both readings.
    """
    if body.error is not None or body.finish is None or body.first(Role.MALFORMED) is not None:
        what = f"a body that is no whole answer ({body.name})"
        expect_refusal(scenario, log, what, wire_shown(body))
        return
    expect_answer(body, log)


def expect_answer(body: Body, log: Log) -> Reading:
    """Expect the text, the calls and the finish of `body`; return what came.

    Raises:
        Failure: with the body and both readings.
    """
    if log.error is not None:
        raise Failure(f"a whole answer raised {shown(log.error)}.", (wire_shown(body),))
    try:
        got = reading(log)
    except ProtocolError as error:
        raise Failure(f"the events contradict each other: {error}.", (wire_shown(body),)) from None
    wanted = meaning(body)
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


def meaning(body: Body) -> Reading:
    """Return what the format means by `body`.

    Raises:
        ProtocolError: the body contradicts itself.
    """
    log = Log()
    for event in body.events:
        log.add(event)
    return reading(log)


def expect_one_finish(log: Log) -> Finish:
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


def expect_raw(body: Body, finish: Finish) -> None:
    """Expect the provider's own word in `Finish.raw`.

    Raises:
        Failure: with both words.
    """
    if finish.raw not in body.accepted_raws:
        wanted = " or ".join(map(repr, sorted(body.accepted_raws)))
        raise Failure(
            f"expected the provider's own word {wanted} in Finish.raw, got {finish.raw!r}.",
            (wire_shown(body),),
        )


def expect_usage(body: Body, finish: Finish | None) -> None:
    """Expect the token counts of `body`; none where there is no Finish.

    Raises:
        Failure: with both counts.
    """
    wanted, got = (Usage() if end is None else end.usage for end in (body.finish, finish))
    if got != wanted:
        raise Failure(
            "the usage is not what was sent.",
            (Evidence("expected", str(wanted)), Evidence("got", str(got)), wire_shown(body)),
        )


def expect_ids(body: Body, events: Iterable[Event]) -> None:
    """Expect the ids of the calls of `body`; where it sends none, they may be any.

    Raises:
        Failure: with both.
    """
    wanted, got, data = _ids(body.events), _ids(events), body.data
    if got != wanted and all(id_.encode() in data for id_ in wanted):
        raise Failure(f"expected the calls' ids {wanted}, got {got}.", (wire_shown(body),))


def _ids(events: Iterable[Event]) -> list[str]:
    """Return the different ids of the calls, in the order they came."""
    calls = (event for event in events if isinstance(event, ToolCallDelta))
    return list(dict.fromkeys(call.id for call in calls if call.id))


def tool_names(body: Body) -> list[str]:
    """Return the names of the tools that `body` calls."""
    return [e.name for e in body.events if isinstance(e, ToolCallDelta) and e.name]


def wire_shown(body: Body) -> Evidence:
    """Return the body's bytes as evidence, shortened."""
    data = body.data
    if len(data) > _SHOWN:
        half = _SHOWN // 2
        return Evidence("wire", f"{data[:half]!r} … {data[-half:]!r} ({len(data)} bytes)")
    return Evidence("wire", repr(data))


def bodies_or_skip(bodies: Any) -> tuple[Body, ...]:
    """Return what `bodies()` gives; a format that cannot spell it leaves nothing to judge.

    Raises:
        Skip: with the format's reason.
    """
    try:
        return tuple(bodies())
    except Unsupported as refusal:
        raise Skip(str(refusal)) from None


def bodies_or_none(bodies: Any) -> tuple[Body, ...]:
    """Return what `bodies()` gives, nothing where the format cannot spell it."""
    try:
        return tuple(bodies())
    except Unsupported:
        return ()


def _expect_finish(body: Body, log: Log, finish: Finish | None) -> None:
    if finish is None:
        raise Failure(
            f"expected a Finish ({body.finish!r}), got none: {ending(log)}.", (wire_shown(body),)
        )
    expect_one_finish(log)
    if str(finish.reason) not in body.accepted_reasons:
        raise _differ(body, "reason", " or ".join(sorted(body.accepted_reasons)), finish.reason)


_WHOLE = {
    "text": "hand on every piece of text as it is: white space is text, and so is a piece that "
    "equals the one before it; handle a chunk's content before its finish reason; if the body "
    "means something else, correct the wire",
    "reasoning": "hand on reasoning whole, its signature and its opaque blocks included, or leave "
    "it out: the provider refuses half of it when it is sent back",
}
"""What of the answer differs → how to mend it."""


def _differ(body: Body, what: str, wanted: object, got: object) -> Failure:
    return Failure(
        f"the answer's {what}: not what was sent.",
        (
            Evidence("expected", _cut(wanted)),
            Evidence("got", _cut(got)),
            wire_shown(body),
        ),
        fix=_WHOLE.get(what, ""),
    )


def _cut(value: object) -> str:
    text = repr(value) if not isinstance(value, str) else repr(str(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
