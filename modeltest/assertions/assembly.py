"""Events → turn, by the rules an agent loop lives by."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from modeltest.interface import (
    Finish,
    FinishReason,
    IncompleteResponseError,
    Message,
    ModelError,
    NegativeUsageError,
    OutputFilteredError,
    OutputTruncatedError,
    ProtocolError,
    Reasoning,
    ReasoningDelta,
    StreamProtocolError,
    Text,
    TextDelta,
    ToolCallDelta,
    ToolUse,
    TruncatedToolArgumentsError,
    Usage,
)
from modeltest.text import short_repr
from modeltest.validation import NoEvent, as_event

if TYPE_CHECKING:
    from modeltest.interface import Event, Model, Part, Request


@dataclass(frozen=True, slots=True)
class Turn:
    """A whole answer.

    Attributes:
        message: the assistant's message; adjacent deltas are merged.
        usage: the turn's token counts.
        finish: the event that ended it.
    """

    message: Message
    usage: Usage
    finish: Finish


def assemble(events: Iterable[Event]) -> Turn:
    """Join the events of one stream into a turn.

    Raises:
        IncompleteResponseError: the events ended without a Finish.
        StreamProtocolError: an event after the Finish; a call whose id or name changes or
            that never had one; a tool finish without a call; an unknown finish reason;
            something that is no event.
        TruncatedToolArgumentsError: a call's arguments are no JSON object.
        OutputTruncatedError: the turn ended at the token limit.
        OutputFilteredError: the provider withheld the answer.
        NegativeUsageError: a token count is below zero.

    Whatever iterating `events` raises passes through.
    """
    assembler = Assembler()
    for event in events:
        assembler.add(event)
    return assembler.turn()


def generate(model: Model, request: Request) -> Turn:
    """Stream `request` and join its events; the stream is closed on every way out.

    Raises what `assemble` raises and what the adapter raises.
    """
    stream = model.stream(request)
    try:
        return assemble(stream)
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


def check_finish(finish: Finish) -> None:
    """Assert what holds of every Finish, whatever the provider.

    The reason is not empty; a reason outside `FinishReason` is the provider's own word and
    equals `raw`; nothing was discarded; no count is negative.

    Raises:
        AssertionError: with the rule, what was expected and what came.
    """
    if not finish.reason:
        raise AssertionError("a Finish names its reason: expected a FinishReason, got ''")
    if finish.reason not in set(FinishReason) and finish.reason != finish.raw:
        raise AssertionError(
            f"a reason outside {[str(reason) for reason in FinishReason]} is the provider's own "
            f"word: expected reason == raw, got reason={finish.reason!r}, raw={finish.raw!r}"
        )
    if finish.discarded != Usage():
        raise AssertionError(
            f"an adapter discards nothing: expected {Usage()}, got {finish.discarded}"
        )
    negative = _negative_counts(finish)
    if negative:
        raise AssertionError(f"token counts are never negative: got {negative}")


@dataclass(slots=True)
class _Call:
    """A tool call as far as its deltas have come; in `Assembler.parts` it holds its place."""

    id: str
    name: str
    arguments: list[str] = field(default_factory=list)

    def tool_use(self) -> ToolUse:
        text = "".join(self.arguments)
        try:
            arguments = _parse(text) if text else {}
        except (ValueError, RecursionError) as error:
            raise TruncatedToolArgumentsError(
                f"the arguments of tool call {self.name!r} are not JSON ({error}): "
                f"{short_repr(text, 80)}"
            ) from error
        if not isinstance(arguments, dict):
            raise TruncatedToolArgumentsError(
                f"the arguments of tool call {self.name!r} are no JSON object: "
                f"{short_repr(text, 80)}"
            )
        return ToolUse(self.id, self.name, arguments)


@dataclass(slots=True)
class _Thought:
    """A block of reasoning as far as its deltas have come."""

    texts: list[str]
    signature: str
    redacted: str

    @property
    def closed(self) -> bool:
        """A signature closes a block, and redacted ones stand alone."""
        return bool(self.signature or self.redacted)

    def reasoning(self) -> Reasoning:
        return Reasoning("".join(self.texts), self.signature, self.redacted)


class Assembler:
    """`assemble`, one event at a time: for a loop that shows deltas as they come."""

    def __init__(self) -> None:
        # Lists of deltas until they are asked for: joining them as they come is quadratic.
        self._parts: list[_Call | _Thought | list[str]] = []
        self._calls: dict[int, _Call] = {}
        self._finish: Finish | None = None

    def add(self, event: Event) -> None:
        """Take the next event.

        Raises:
            StreamProtocolError: it follows the Finish, contradicts its call or is no event.
        """
        if self._finish is not None:
            raise StreamProtocolError(f"an event came after the Finish: {event!r}")
        try:
            event = as_event(event, "the stream")
        except NoEvent as fault:
            raise StreamProtocolError(str(fault)) from None
        match event:
            case TextDelta():
                self._add_text(event)
            case ReasoningDelta():
                self._add_reasoning(event)
            case ToolCallDelta():
                self._add_call(event)
            case Finish():
                self._finish = event

    def message(self) -> Message:
        """Return the message so far, whether or not the turn has ended, or ended well.

        Raises:
            TruncatedToolArgumentsError: a call's arguments are no JSON object.
        """
        return Message("assistant", tuple(map(_whole, self._parts)))

    def turn(self) -> Turn:
        """Return the turn, now that the events have ended.

        Raises:
            IncompleteResponseError, StreamProtocolError, TruncatedToolArgumentsError,
            OutputTruncatedError, OutputFilteredError, NegativeUsageError: as `assemble`.
        """
        finish = self._finish
        if finish is None:
            raise IncompleteResponseError("the events ended without a Finish")
        negative = _negative_counts(finish)
        if negative:
            raise NegativeUsageError(f"token counts are never negative: got {negative}")
        # Before the reason is looked at: half a call must not run, whatever it was cut by.
        message = self.message()
        self._check_reason(finish)
        return Turn(message, finish.usage, finish)

    def _add_text(self, delta: TextDelta) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, list):
            last.append(delta.text)
        elif delta.text:
            self._parts.append([delta.text])

    def _add_reasoning(self, delta: ReasoningDelta) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Thought) and not (last.closed or delta.redacted):
            last.texts.append(delta.text)
            last.signature = delta.signature
        elif delta != ReasoningDelta():
            self._parts.append(_Thought([delta.text], delta.signature, delta.redacted))

    def _add_call(self, delta: ToolCallDelta) -> None:
        call = self._calls.get(delta.index)
        if call is None:
            call = self._calls[delta.index] = _Call(delta.id, delta.name)
            self._parts.append(call)
        call.id = _settled(f"id of call {delta.index}", call.id, delta.id)
        call.name = _settled(f"name of call {delta.index}", call.name, delta.name)
        call.arguments.append(delta.arguments)

    def _check_reason(self, finish: Finish) -> None:
        match finish.reason:
            case FinishReason.LENGTH:
                raise OutputTruncatedError("the answer was cut at the token limit")
            case FinishReason.FILTERED:
                raise OutputFilteredError(f"the provider withheld the answer ({finish.raw!r})")
            case FinishReason.STOP | FinishReason.TOOL_USE:
                pass
            case unknown:
                raise StreamProtocolError(f"unknown finish reason {unknown!r}")
        if finish.reason == FinishReason.TOOL_USE and not self._calls:
            raise StreamProtocolError("the turn ended for a tool call, but carries none")
        for index, call in self._calls.items():
            if not call.name:
                raise StreamProtocolError(f"tool call {index} never had a name")


def _whole(part: _Call | _Thought | list[str]) -> Part:
    match part:
        case _Call():
            return part.tool_use()
        case _Thought():
            return part.reasoning()
    return Text("".join(part))


def _settled(what: str, known: str, given: str) -> str:
    """Return the one value of `known` and `given`; either may still be empty."""
    if known and given and known != given:
        raise StreamProtocolError(f"the {what} changed from {known!r} to {given!r}")
    return known or given


def _negative_counts(finish: Finish) -> dict[str, int]:
    used = finish.usage.counts()
    discarded = {f"discarded.{name}": n for name, n in finish.discarded.counts().items()}
    return {name: count for name, count in (used | discarded).items() if count < 0}


def _parse(arguments: str) -> Any:
    """Return what JSON text says; Python's own reader takes more than JSON, and gives infinity."""
    return json.loads(arguments, parse_constant=_refuse_constant, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def refused_by_assemble(events: Iterable[Event]) -> BaseException | None:
    """Return the error by which `assemble` refuses these events, or None.

    An answer that was filtered, or cut at a limit, or ended for a reason that nobody knows, is
    an answer here: it may have been read well all the same.
    """
    try:
        assemble(map(_with_plain_reason, events))
    except (ModelError, ProtocolError) as error:
        return error
    return None


def _with_plain_reason(event: Event) -> Event:
    if not isinstance(event, Finish) or event.reason == FinishReason.TOOL_USE:
        return event
    return Finish(FinishReason.STOP)
