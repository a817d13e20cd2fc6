"""Whole turns of every kind, whole with what an adapter must skip, and short ones.

Each function takes a wire format and gives bodies, each with a name and what it means.

Raises, all of them: Unsupported, where the format cannot say such a thing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.corpus.once import once
from modeltest.encoding import ALPHABETS, ARGUMENTS, TEXT, Role, RolePayload, encode_each
from modeltest.interface import Finish, FinishReason, ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from modeltest.encoding import Body, Item, WireFormat


_STOP = Finish(FinishReason.STOP)


@once
def whole_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return whole turns of each kind that the format can say, with usage if it tells any."""
    call = wire.tool_call(0, "get_weather", ARGUMENTS)
    other = wire.tool_call(1, "get_time", {"zone": "Europe/Oslo"})
    thought = (ReasoningDelta("Let me "), ReasoningDelta("think."), *wire.reasoning_proof())
    stop = Finish(FinishReason.STOP, usage=wire.sample_usage)
    tool_use = Finish(FinishReason.TOOL_USE, usage=wire.sample_usage)
    usual = encode_each(
        {
            "text": (*TEXT, stop),
            "reasoning, then text": (*thought, *TEXT, stop),
            "one tool call": (*call, tool_use),
            "two tool calls": (*call, *other, tool_use),
            "text, then a tool call": (*TEXT, *call, tool_use),
            "text of several alphabets": (*ALPHABETS, stop),
        },
        wire.encode,
    )
    return (*usual, *wire.special_turns())


@once
def short_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a short turn of each kind, to be cut at every byte.

    A field that no reader needs would only be cut a thousand times more: see `WireFormat.lean`.
    """
    texts = (TextDelta("Gr\u00fc\u00dfe "), TextDelta("\U0001f30d"))
    thought = (ReasoningDelta("Hm"), *wire.reasoning_proof())
    call = wire.tool_call(0, "f", {"city": "\u4e16", "days": 30})
    other = wire.tool_call(1, "g", {"n": 12})
    stop = Finish(FinishReason.STOP, usage=wire.sample_usage)
    tool_use = Finish(FinishReason.TOOL_USE, usage=wire.sample_usage)

    def encode_lean(*script: Item, name: str) -> Body:
        payloads, events = wire.payloads_of(*script)
        lean = [replace(one, payload=wire.lean(one.payload)) for one in payloads]
        return wire.render(name, lean, events)

    return encode_each(
        {
            "a short text": (*texts, stop),
            "short reasoning, then text": (*thought, *texts, stop),
            "a short tool call": (*call, tool_use),
            "two short tool calls": (*call, *other, tool_use),
        },
        encode_lean,
    )


@once
def unknown_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return whole turns with events, content and fields that an adapter must skip."""
    payloads, events = wire.payloads_of(*TEXT, _STOP)
    fields = [RolePayload(one.role, wire.add_field(one.payload)) for one in payloads]
    bodies = [wire.render("an unknown field", fields, events)]
    roles = [one.role for one in payloads]
    after_a_text = roles.index(Role.TEXT) + 1
    before_the_finish = roles.index(Role.FINISH)
    for at, extras in (
        (after_a_text, wire.unknown_events()),
        (before_the_finish, wire.unknown_blocks()),
    ):
        for name, unknown in extras.items():
            extra = [RolePayload(Role.OTHER, payload) for payload in unknown]
            bodies.append(wire.render(name, [*payloads[:at], *extra, *payloads[at:]], events))
    return tuple(bodies)
