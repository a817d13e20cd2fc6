"""The ways in which a turn ends, and what looks like an end.

Each function takes a wire format and gives bodies, each with a name and what it means.

Raises, all of them: Unsupported, where the format cannot say such a thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.corpus.once import once
from modeltest.encoding import (
    ALPHABETS,
    ARGUMENTS,
    TEXT,
    Framing,
    Role,
    SameEvent,
    Unsupported,
    encode_each,
)
from modeltest.interface import Finish, FinishReason, TextDelta, Usage

if TYPE_CHECKING:
    from modeltest.encoding import Body, WireFormat


_STOP = Finish(FinishReason.STOP)
_TOOL_USE = Finish(FinishReason.TOOL_USE)


@once
def good_endings(wire: WireFormat) -> tuple[Body, ...]:
    """Return a turn with each ending that the format calls complete."""
    finish = Finish(FinishReason.STOP, usage=wire.sample_usage)
    return (wire.encode(*TEXT, finish, name="the usual ending"), *wire.other_endings())


@once
def incomplete_endings(wire: WireFormat) -> tuple[Body, ...]:
    """Return bodies that look like whole turns, but lack what would make them so."""
    if bodies := wire.incomplete_endings():
        return bodies
    raise Unsupported(f"{wire.name}: nothing but a finish looks like one")


@once
def reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return one turn for every finish reason of the format."""
    scripts = {word: wire.reason_script(word) for word in wire.reasons}
    return (*encode_each(scripts, wire.encode), *wire.blocked_turns())


@once
def unknown_reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a turn whose finish reason the format does not define."""
    finish = wire.finish(wire.unknown_reason)
    return (wire.encode(*TEXT, finish, name="an unknown finish reason"),)


@once
def absent_reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns that end without a reason, or have an empty one before their end."""
    if bodies := wire.turns_without_reason():
        return bodies
    raise Unsupported(f"{wire.name}: a turn never ends without a reason")


@once
def usage_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns with token counts in every place, and one with counts but no finish."""
    if not wire.usage_placements:
        raise Unsupported(f"{wire.name} tells no usage (usage_placements, usage_event)")
    finish = Finish(FinishReason.STOP, usage=wire.sample_usage)
    bodies = [
        wire.encode(*TEXT, finish, name=f"usage {place}", usage=place)
        for place in wire.usage_placements
    ]
    if "cache_read_tokens" in wire.usage_counts:
        cached = Finish(FinishReason.STOP, usage=Usage(0, 11, cache_read_tokens=23))
        bodies.append(wire.encode(*TEXT, cached, name="usage, the whole prompt cached"))
    payloads, _ = wire.payloads_of(*TEXT, finish)
    if any(one.role is Role.USAGE for one in payloads):
        kept = [one for one in payloads if one.role not in (Role.FINISH, Role.END)]
        bodies.append(wire.render("usage, but no finish", kept, TEXT))
    return (*bodies, *wire.usage_variants())


@once
def after_finish_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns that go on after their finish: protocol errors."""
    call = wire.tool_call(0, "get_weather", ARGUMENTS)
    return encode_each(
        {
            "text after the finish": (*TEXT, _STOP, TextDelta("more")),
            "a tool call after the finish": (*TEXT, _STOP, *call),
        },
        wire.encode,
    )


@once
def duplicate_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return whole turns whose finish event, or end marker, comes twice: one Finish each."""
    payloads, events = wire.payloads_of(*TEXT, _STOP)
    bodies = []
    for n, one in enumerate(payloads):
        # What closes a JSON array cannot come twice: the body would be no JSON.
        closes = one.role is Role.END and wire.framing is Framing.JSON_ARRAY
        if one.role in (Role.FINISH, Role.END) and not closes:
            twice = [*payloads[: n + 1], *payloads[n:]]
            bodies.append(wire.render(f"the {one.role} twice", twice, events))
    return tuple(bodies)


@once
def finish_beside_content_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns whose finish shares an event with content, or follows an empty text."""
    *texts, last = TEXT
    *deltas, end = wire.tool_call(0, "get_weather", ARGUMENTS)
    return encode_each(
        {
            "finish beside the last text": (*texts, SameEvent((last, _STOP))),
            "finish beside the only text": (SameEvent((last, _STOP)),),
            "finish beside a tool call": (*deltas, SameEvent((end, _TOOL_USE))),
            "finish after an empty text": (*TEXT, TextDelta(""), _STOP),
            "finish after text of many kinds": (*ALPHABETS, _STOP),
        },
        wire.encode,
    )
