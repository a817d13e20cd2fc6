"""Turns that carry tool calls.

Each function takes a wire format and gives bodies, each with a name and what it means.

Raises, all of them: Unsupported, where the format cannot say such a thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.corpus.once import once
from modeltest.encoding import (
    ARGUMENTS,
    CUT_ARGUMENTS,
    INVALID_ARGUMENTS,
    TEXT,
    SameEvent,
    Unsupported,
    encode_each,
    to_json,
)
from modeltest.interface import Finish, FinishReason, TextDelta, ToolCallDelta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeltest.encoding import Body, Item, WireFormat


LARGE = 1_200_000
"""Bytes of arguments: a file written by a tool."""

_FRAGMENT = 16_000  # characters; a large call comes in fragments of this size

_STOP = Finish(FinishReason.STOP)
_TOOL_USE = Finish(FinishReason.TOOL_USE)


@once
def parallel_call_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of two calls: fragments in turns, both in one event, text around them."""
    one = wire.tool_call(0, "get_weather", ARGUMENTS)
    two = wire.tool_call(1, "get_weather", {"city": "Oslo", "days": 3})
    before, between, after = map(TextDelta, ("before", "between", "after"))
    begun = SameEvent((one[0], two[0]))
    scripts: dict[str, Sequence[Item]] = {
        "two tool calls, one after the other": (*one, *two, _TOOL_USE),
        "two tool calls in one event": (begun, *one[1:], *two[1:], _TOOL_USE),
        "text around two tool calls": (before, *one, between, *two, after, _TOOL_USE),
    }
    if wire.streams_arguments:
        woven = [delta for pair in zip(one, two, strict=True) for delta in pair]
        scripts["fragments of two tool calls in turns"] = (*woven, _TOOL_USE)
    return encode_each(scripts, wire.encode)


@once
def index_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of two calls whose index does not tell them apart."""
    if bodies := wire.misleading_indexes():
        return bodies
    raise Unsupported(f"{wire.name}: a call has no index that could mislead")


@once
def identity_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of one call whose id or name comes again with later fragments."""
    if bodies := wire.repeated_identities():
        return bodies
    raise Unsupported(f"{wire.name}: no fragment of a call carries its id or name")


@once
def empty_argument_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of one call without arguments, in every way to say it: each means {}."""
    start = ToolCallDelta(0, wire.call_id(0), "get_time")
    usual = encode_each(
        {
            "arguments {}": (*wire.tool_call(0, "get_time", {}), _TOOL_USE),
            "no arguments": (start, _TOOL_USE),
            "arguments ''": (start, ToolCallDelta(0), _TOOL_USE),
        },
        wire.encode,
    )
    return (*usual, *wire.missing_arguments())


@once
def tool_reason_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a whole call under an ordinary stop, and a finish for tool use without a call."""
    call = wire.tool_call(0, "get_weather", ARGUMENTS)
    return encode_each(
        {
            "a tool call under an ordinary stop": (*call, _STOP),
            "a finish for tool use, no call": (*TEXT, _TOOL_USE),
        },
        wire.encode,
    )


@once
def invalid_argument_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns of one call whose arguments are no JSON object."""
    return encode_each(
        {
            f"arguments {text}": (*wire.tool_call(0, "get_weather", text), _TOOL_USE)
            for text in INVALID_ARGUMENTS
        },
        wire.encode,
    )


@once
def cut_argument_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return turns whose only call is cut, under every kind of end: none may give the call."""
    ends: dict[str, tuple[Item, ...]] = {
        "no finish": (),
        "a finish for tool use": (_TOOL_USE,),
        "a finish for length": (Finish(FinishReason.LENGTH),),
    }
    scripts: dict[str, Sequence[Item]] = {
        # With a finish it would be a call without arguments.
        "arguments cut before any byte, no finish": wire.tool_call(0, "get_weather", "")
    }
    scripts |= {
        f"arguments cut {where}, {how}": (*wire.tool_call(0, "get_weather", text), *end)
        for where, text in CUT_ARGUMENTS.items()
        for how, end in ends.items()
    }
    return encode_each(scripts, wire.encode)


@once
def large_call_bodies(wire: WireFormat) -> tuple[Body, ...]:
    """Return a turn of one call with `LARGE` bytes of arguments."""
    return (large_call_body(wire, LARGE),)


def large_call_body(wire: WireFormat, size: int) -> Body:
    """Return a turn of one call with at least `size` bytes of arguments."""
    whole = to_json({"text": "\u4e16\U0001f30d " * (size // 8 + 1)})
    step = _FRAGMENT if wire.streams_arguments else len(whole)
    first = ToolCallDelta(0, wire.call_id(0), "write", whole[:step])
    rest = [
        ToolCallDelta(0, arguments=whole[at : at + step]) for at in range(step, len(whole), step)
    ]
    return wire.encode(first, *rest, _TOOL_USE, name=f"{size} bytes of arguments")
