"""The bodies that the calls/* checks ask of a format."""

from __future__ import annotations

from collections.abc import Sequence

from modeltest.interface import Finish, FinishReason, TextDelta, ToolCallDelta
from modeltest.wire.body import Body
from modeltest.wire.finish_cases import FinishCases
from modeltest.wire.framing import to_json
from modeltest.wire.samples import ARGUMENTS, CUT_ARGUMENTS, INVALID_ARGUMENTS, TEXT
from modeltest.wire.script import Item, Together, Unsupported

_FRAGMENT = 16_000  # characters; a large call comes in pieces of this size

_STOP = Finish(FinishReason.STOP)
_TOOL_USE = Finish(FinishReason.TOOL_USE)


class CallCases(FinishCases):
    """Turns that carry tool calls."""

    def parallel_call_bodies(self) -> tuple[Body, ...]:
        """Return turns of two calls: fragments in turns, both in one event, text around them."""
        one = self.tool_call(0, "get_weather", ARGUMENTS)
        two = self.tool_call(1, "get_weather", {"city": "Oslo", "days": 3})
        before, between, after = map(TextDelta, ("before", "between", "after"))
        scripts: dict[str, Sequence[Item]] = {
            "two tool calls, one after the other": (*one, *two, _TOOL_USE),
            "two tool calls in one event": (
                Together((one[0], two[0])),
                *one[1:],
                *two[1:],
                _TOOL_USE,
            ),
            "text around two tool calls": (before, *one, between, *two, after, _TOOL_USE),
        }
        if self.streams_arguments:
            woven = [delta for pair in zip(one, two, strict=True) for delta in pair]
            scripts["fragments of two tool calls in turns"] = (*woven, _TOOL_USE)
        return self.spell_all(scripts)

    def index_bodies(self) -> tuple[Body, ...]:
        """Return turns of two calls whose index does not tell them apart."""
        raise Unsupported(f"{self.name}: a call has no index that could mislead")

    def identity_bodies(self) -> tuple[Body, ...]:
        """Return turns of one call whose id or name comes again with later fragments."""
        raise Unsupported(f"{self.name}: no fragment of a call carries its id or name")

    def empty_argument_bodies(self) -> tuple[Body, ...]:
        """Return turns of one call without arguments, in every way to say it: each means {}."""
        start = ToolCallDelta(0, self.call_id(0), "get_time")
        return self.spell_all(
            {
                "arguments {}": (*self.tool_call(0, "get_time", {}), _TOOL_USE),
                "no arguments": (start, _TOOL_USE),
                "arguments ''": (start, ToolCallDelta(0), _TOOL_USE),
            }
        )

    def tool_reason_bodies(self) -> tuple[Body, ...]:
        """Return a whole call under an ordinary stop, and a finish for tool use without a call."""
        call = self.tool_call(0, "get_weather", ARGUMENTS)
        return self.spell_all(
            {
                "a tool call under an ordinary stop": (*call, _STOP),
                "a finish for tool use, no call": (*TEXT, _TOOL_USE),
            }
        )

    def invalid_argument_bodies(self) -> tuple[Body, ...]:
        """Return turns of one call whose arguments are no JSON object."""
        return self.spell_all(
            {
                f"arguments {text}": (*self.tool_call(0, "get_weather", text), _TOOL_USE)
                for text in INVALID_ARGUMENTS
            }
        )

    def cut_argument_bodies(self) -> tuple[Body, ...]:
        """Return turns whose only call is cut, under every kind of end: none may give the call."""
        ends: dict[str, tuple[Item, ...]] = {
            "no finish": (),
            "a finish for tool use": (_TOOL_USE,),
            "a finish for length": (Finish(FinishReason.LENGTH),),
        }
        scripts: dict[str, Sequence[Item]] = {
            # With a finish it would be a call without arguments.
            "arguments cut before any byte, no finish": self.tool_call(0, "get_weather", "")
        }
        return self.spell_all(
            scripts
            | {
                f"arguments cut {where}, {how}": (*self.tool_call(0, "get_weather", text), *end)
                for where, text in CUT_ARGUMENTS.items()
                for how, end in ends.items()
            }
        )

    def large_call_body(self, size: int) -> Body:
        """Return a turn of one call with at least `size` bytes of arguments."""
        whole = to_json({"text": "\u4e16\U0001f30d " * (size // 8 + 1)})
        step = _FRAGMENT if self.streams_arguments else len(whole)
        first = ToolCallDelta(0, self.call_id(0), "write", whole[:step])
        rest = [
            ToolCallDelta(0, arguments=whole[at : at + step])
            for at in range(step, len(whole), step)
        ]
        return self.spell(first, *rest, _TOOL_USE, name=f"{size} bytes of arguments")
