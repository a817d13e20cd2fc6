"""Requests with tools, tool choices and replayed calls: good ones, and what is to be refused."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from modeltest.encoding import COMMON_TOOL_NAMES
from modeltest.interface import Message, Request, Tool, ToolChoice, ToolResult, ToolUse, user

if TYPE_CHECKING:
    from modeltest.encoding import ToolNameRule, WireFormat


class ToolRules(Protocol):
    """What is known of an adapter's rules for tools."""

    @property
    def wire(self) -> WireFormat | None:
        """The provider's wire format, whose rules hold."""
        ...

    @property
    def accepted_tool_names(self) -> tuple[str, ...]:
        """Names that the adapter accepts by a rule of its own."""
        ...

    @property
    def refused_tool_names(self) -> tuple[str, ...]:
        """Names that it refuses by a rule of its own."""
        ...


WEATHER = "get_weather"
TIME = "get_time"
"""A second tool; every provider takes both names."""

MADE_UP = ("$READFILE", "read file")
"""What a model has called in an earlier turn: no tool has such a name."""

_PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}

_SHOWN_WHOLE = 40
"""Characters up to which a name is shown whole."""


def rule_of(rules: ToolRules) -> ToolNameRule:
    """Return the provider's rule for tool names, or one that every provider's includes."""
    return COMMON_TOOL_NAMES if rules.wire is None else rules.wire.tool_names


def request_for(*names: str, choice: ToolChoice | None = None) -> Request:
    """Return a request that declares tools of these names."""
    tools = tuple(
        Tool(name, f"Tool number {n}.", copy.deepcopy(_PLACE)) for n, name in enumerate(names, 1)
    )
    return Request((user("What is the weather in Oslo?"),), tools, choice)


def bad_names(rules: ToolRules, names: Sequence[str]) -> dict[str, Request]:
    """Return a request for each of `names`, but for those the author accepts.

    Beside it is a good one, in turns the first and the last: who looks at one tool only finds
    half of the names good.
    """
    bad = [name for name in names if name not in rules.accepted_tool_names]
    return {
        named(name): request_for(*((WEATHER, name) if number % 2 else (name, WEATHER)))
        for number, name in enumerate(bad)
    }


def bad_choices(rules: ToolRules) -> Iterator[tuple[str, Request]]:
    """Yield requests with two tools of one name, and with a choice that cannot be made."""
    yield "two tools of one name", request_for(WEATHER, TIME, WEATHER)
    yield "two tools of one name, the last ones", request_for(WEATHER, TIME, TIME)
    unknown = ToolChoice("sometimes")
    yield "tool choice of an unknown mode, 'sometimes'", request_for(WEATHER, choice=unknown)
    yield "tool choice of an unknown mode without tools", request_for(choice=unknown)
    yield "tool choice 'required' without tools", request_for(choice=ToolChoice("required"))
    yield "tool choice 'tool' without tools", request_for(choice=ToolChoice("tool", WEATHER))
    yield "tool choice 'tool' without a name", request_for(WEATHER, choice=ToolChoice("tool"))
    undeclared = request_for(WEATHER, choice=ToolChoice("tool", TIME))
    yield f"tool choice of a tool that is not declared, {TIME!r}", undeclared
    shouted = request_for(WEATHER, choice=ToolChoice("tool", WEATHER.upper()))
    yield f"tool choice of a tool that is declared in other letters, {WEATHER.upper()!r}", shouted
    modes = modes_of(rules)
    format_name = "" if rules.wire is None else rules.wire.name
    if "required" not in modes:
        # One tool alone, required, says "tool" as well: then either is right.
        for choice in (ToolChoice("required"), ToolChoice("tool", WEATHER)):
            if choice.mode not in modes:
                name = f"tool choice {choice.mode!r}, which {format_name} cannot express"
                yield name, request_for(WEATHER, TIME, choice=choice)


def good_names(rules: ToolRules) -> dict[str, Request]:
    """Return a request for each name that every provider takes, and one for all of them."""
    names = [name for name in rule_of(rules).accepted if name not in rules.refused_tool_names]
    each = {named(name): request_for(name) for name in names}
    return {**each, "all these tools together": request_for(*names)}


def good_choices(rules: ToolRules) -> Iterator[tuple[str, Request]]:
    """Yield requests with a choice that can be made, with and without tools."""
    for mode in ("auto", "none"):
        yield f"tool choice {mode!r} without tools", request_for(choice=ToolChoice(mode))
    for choice in map(ToolChoice, ("auto", "none", "required")):
        if choice.mode in modes_of(rules):
            yield f"tool choice {choice.mode!r}", request_for(WEATHER, TIME, choice=choice)
    if "tool" in modes_of(rules):
        one = ToolChoice("tool", TIME)
        yield f"tool choice of one tool, {TIME!r}", request_for(WEATHER, TIME, choice=one)


def histories(rule: ToolNameRule) -> Iterator[tuple[str, Request]]:
    """Yield requests with earlier turns that called tools, some of which there cannot be."""
    one, other = MADE_UP
    yield "a bad name after a good one", _with_calls((WEATHER, one))
    yield "a bad name in the first of two messages", _with_calls((one,), (WEATHER,))
    yield "two bad names, one of them twice", _with_calls((one, other, one))
    if rule.limit is not None:
        long = "a" * (rule.limit + 1)
        yield f"a name of {len(long)} characters", _with_calls((long,))


def _with_calls(*messages: Sequence[str]) -> Request:
    """Return a request whose history has these calls, a message each, and their results."""
    asked = request_for(WEATHER)
    history, number = list(asked.messages), itertools.count()
    for names in messages:
        calls = tuple(ToolUse(f"call_{next(number)}", name, {}) for name in names)
        results = tuple(ToolResult(call.id, "there is no such tool") for call in calls)
        history += [Message("assistant", calls), Message("tool", results)]
    return replace(asked, messages=(*history, user("Try again.")))


def modes_of(rules: ToolRules) -> frozenset[str]:
    """Return the modes of a choice that the provider's requests can express."""
    if rules.wire is None:
        return frozenset({"auto", "none", "required", "tool"})
    return frozenset(rules.wire.tool_choices)


def named(name: str) -> str:
    """Return "tool name 'get weather'", as `shown_name`."""
    return f"tool name {shown_name(name)}"


def shown_name(name: str) -> str:
    """Return a name in quotes and in ASCII; a long one shortened."""
    if len(name) > _SHOWN_WHOLE:
        return f"{name[:3]!a}… ({len(name)} characters)"
    return ascii(name)
