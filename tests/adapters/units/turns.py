"""Feeds a turn without a network."""

from __future__ import annotations

import json
from typing import Any

from modeltest import Event, ToolCallDelta, ToolUse, assemble
from tests.adapters.read_turn import TurnReader
from tests.adapters.sse import ServerSentEvent


def read(turn: TurnReader, *data: Any, end: bool = True) -> list[Event]:
    """Feed each of `data`, JSON values or texts, as an event; then the end of the body."""
    events: list[Event] = []
    for value in data:
        text = value if isinstance(value, str) else json.dumps(value)
        events += turn.take(ServerSentEvent("message", text))
    if end:
        events += turn.finish()
    return events


def calls(events: list[Event]) -> tuple[ToolUse, ...]:
    """The whole calls of a turn."""
    return assemble(events).message.tool_uses


def arguments(events: list[Event], index: int = 0) -> str:
    """The text of one call's arguments."""
    return "".join(
        event.arguments
        for event in events
        if isinstance(event, ToolCallDelta) and event.index == index
    )
