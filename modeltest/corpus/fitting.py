"""What of a request an adapter can take that lacks something."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.interface import Image, Reasoning, ToolResult, ToolUse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from modeltest.interface import Message, Request


_PARTS: dict[str, tuple[type, ...]] = {
    "tools": (ToolUse, ToolResult),
    "images": (Image,),
    "reasoning": (Reasoning,),
}


def fitting_request(request: Request, lacks: Collection[str]) -> Request:
    """Return `request` without what the adapter lacks."""
    messages = tuple(_fitting(request.messages, lacks))
    if "history" in lacks:
        system = tuple(message for message in messages if message.role == "system")
        asked = tuple(message for message in messages if message.role == "user")
        messages = (*system, *asked[-1:])
    if "tools" in lacks:
        request = replace(request, tools=(), tool_choice=None)
    return replace(request, messages=messages)


def _fitting(messages: Iterable[Message], lacks: Collection[str]) -> Iterator[Message]:
    unfit = tuple(kind for name, kinds in _PARTS.items() if name in lacks for kind in kinds)
    for message in messages:
        parts = tuple(part for part in message.parts if not isinstance(part, unfit))
        if parts and not (message.role == "system" and "system" in lacks):
            yield replace(message, parts=parts)
