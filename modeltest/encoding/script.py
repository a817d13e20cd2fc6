"""What a body is made from, step by step, and how each step becomes payloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from modeltest.encoding.payloads import Role, RolePayload, Unsupported, UsagePlacement, WireError
from modeltest.interface import (
    Event,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

if TYPE_CHECKING:
    from modeltest.encoding.format import WireFormat
    from modeltest.encoding.payloads import Payload


EVENTS = (TextDelta, ReasoningDelta, ToolCallDelta, Finish)

DELTA_ROLES = {
    TextDelta: Role.TEXT,
    ReasoningDelta: Role.REASONING,
    ToolCallDelta: Role.CALL,
}
"""The role of the event that carries a delta."""


@dataclass(frozen=True, slots=True)
class SameEvent:
    """Two contract events or more that share one event of the wire; a Finish stands last."""

    events: tuple[Event, ...]


Item = Event | SameEvent | RolePayload | WireError
"""One step of a script."""


def check_script(script: Sequence[object]) -> tuple[Item, ...]:
    """Return `script` if each step of it is an Item.

    Raises:
        TypeError: with the step that is not, and what it may be.
    """
    items: list[Item] = []
    for step in script:
        if isinstance(step, SameEvent) and len(step.events) > 1:
            check_script(step.events)
        elif not isinstance(step, (*EVENTS, RolePayload, WireError)):
            raise TypeError(
                "a body is made from TextDelta, ReasoningDelta, ToolCallDelta, Finish, "
                f"SameEvent (of two events or more), RolePayload and WireError; got {step!r:.80}"
            )
        items.append(step)
    return tuple(items)


def events_of(script: Sequence[Item]) -> Iterator[Event]:
    """Yield the contract events of a script, in order."""
    for item in script:
        if isinstance(item, SameEvent):
            yield from item.events
        elif isinstance(item, EVENTS):
            yield item


def finish_of(script: Sequence[Item]) -> Finish | None:
    """Return the first Finish of a script, if it has one."""
    return next((event for event in events_of(script) if isinstance(event, Finish)), None)


def has_calls(script: Sequence[Item]) -> bool:
    """Return whether a script calls a tool."""
    return any(isinstance(event, ToolCallDelta) for event in events_of(script))


def settled(wire: WireFormat, script: Sequence[Item]) -> tuple[Item, ...]:
    """Return `script` with the provider's word, and what it means, in every Finish."""
    calls = wire.calls_mean_tool_use and has_calls(script)

    def settle(item: Any) -> Any:
        if isinstance(item, SameEvent):
            return SameEvent(tuple(settle(event) for event in item.events))
        return _settle(wire, item, by_calls=calls) if isinstance(item, Finish) else item

    return tuple(settle(item) for item in script)


def _settle(wire: WireFormat, finish: Finish, *, by_calls: bool) -> Finish:
    tool_use = FinishReason.TOOL_USE
    wanted = FinishReason.STOP if by_calls and finish.reason == tool_use else finish.reason
    word = finish.raw or wire.word(wanted)
    meant = wire.reasons.get(word, word)
    if meant != wanted:
        raise ValueError(
            f"{wire.name} means {str(meant)!r} by {word!r}, the script says {wanted!r}"
        )
    reason = tool_use if by_calls and meant == FinishReason.STOP else meant
    return replace(finish, reason=reason, raw=word)


def check_sayable(
    wire: WireFormat, script: Sequence[Item], finish: Finish | None, placement: UsagePlacement
) -> None:
    """Check that the format can end a turn and tell its usage as `script` wants it.

    Raises:
        Unsupported: it cannot.
    """
    *_, last = (None, *events_of(script))
    if finish and wire.stops_at_finish and last is not finish:
        raise Unsupported(f"{wire.name}: a reader stops at {wire.end_marker}")
    if finish is None or finish.usage == Usage():
        return
    for name, count in finish.usage.counts().items():
        if count and name not in wire.usage_counts:
            raise Unsupported(f"{wire.name} does not tell {name}")
    if placement not in wire.usage_placements:
        raise Unsupported(f"{wire.name} never tells its usage {placement}")


def accepted_reasons(wire: WireFormat, finish: Finish, events: Sequence[Event]) -> frozenset[str]:
    """Return every reason that is right where `finish` is expected.

    A call under an ordinary stop may be reported as either: what counts is that it is kept.
    """
    accepted = {str(finish.reason)} | wire.other_reasons.get(finish.raw, frozenset())
    if finish.reason == FinishReason.STOP and has_calls(events):
        accepted.add(str(FinishReason.TOOL_USE))
    return frozenset(accepted)


def delta_event(wire: WireFormat, event: Event) -> Payload:
    """Return the event that carries a delta."""
    match event:
        case TextDelta():
            return wire.text_event(event.text)
        case ReasoningDelta():
            return wire.reasoning_event(event)
        case ToolCallDelta():
            return wire.call_event(event)
    raise Unsupported(f"{wire.name}: a Finish is the last thing that its event says")


def merged(wire: WireFormat, item: SameEvent, placement: UsagePlacement) -> Iterator[RolePayload]:
    """Yield one event that says several things; its usage may follow it."""
    *events, last = item.events
    payloads = [delta_event(wire, event) for event in events]
    if isinstance(last, Finish):
        yield from closing(wire, last, placement, payloads)
    else:
        payload = wire.merge([*payloads, delta_event(wire, last)])
        yield RolePayload(DELTA_ROLES[type(last)], payload)


def closing(
    wire: WireFormat, finish: Finish, placement: UsagePlacement, beside: Sequence[Payload] = ()
) -> Iterator[RolePayload]:
    """Yield the finish and its usage, the finish in one event with what is `beside` it."""
    payload = wire.finish_event(finish.raw)
    payload = wire.merge([*beside, payload]) if beside else payload
    if finish.usage == Usage():
        yield RolePayload(Role.FINISH, payload)
        return
    usage = wire.usage_event(finish.usage)
    if placement in (UsagePlacement.ON, UsagePlacement.EVERY):
        yield RolePayload(Role.FINISH, wire.merge([payload, usage]))
        return
    pair = [RolePayload(Role.FINISH, payload), RolePayload(Role.USAGE, usage)]
    yield from reversed(pair) if placement is UsagePlacement.BEFORE else pair


def count_on_every(
    wire: WireFormat, payloads: Sequence[RolePayload], total: Usage
) -> Iterator[RolePayload]:
    """Yield the payloads, each with content merged with the tokens generated so far."""
    for n, one in enumerate(payloads):
        if one.role in DELTA_ROLES.values():
            so_far = replace(total, output_tokens=min(n + 1, total.output_tokens))
            yield RolePayload(one.role, wire.merge([one.payload, wire.usage_event(so_far)]))
        else:
            yield one
