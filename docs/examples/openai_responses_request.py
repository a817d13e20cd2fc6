"""A request, spelled for OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeltest import (
    ConfigError,
    Message,
    Part,
    Request,
    Text,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
)

from .payload import encode
from .tools import OPENAI_RESPONSES_NAMES, check_tools

_ROLES = {"system": "system", "user": "user", "tool": "user", "assistant": "assistant"}


def responses_request(model: str, request: Request) -> bytes:
    """Return the JSON body.

    Raises:
        ConfigError: the provider would refuse the request.
    """
    check_tools(request, OPENAI_RESPONSES_NAMES)
    payload: dict[str, Any] = {
        "model": model,
        "input": [item for message in request.messages for item in _items(message)],
        "stream": True,
        # Every request holds the whole conversation: the provider need not keep it.
        "store": False,
    }
    if request.tools:
        payload["tools"] = list(map(_tool, request.tools))
        if request.tool_choice:
            payload["tool_choice"] = _choice(request.tool_choice)
    return encode(payload).encode()


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        # Strict unless told otherwise; and then most schemas are refused.
        "strict": False,
    }


def _choice(choice: ToolChoice) -> str | dict[str, Any]:
    if choice.mode == "tool":
        return {"type": "function", "name": choice.name}
    return choice.mode


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """Yield the items of a message: calls and results are items beside it, not parts of it."""
    if message.role not in _ROLES:
        raise ConfigError(f"role: expected one of {', '.join(_ROLES)}, got {message.role!r}")
    # Results first: they have to follow the calls.
    for part in sorted(message.parts, key=lambda part: not isinstance(part, ToolResult)):
        yield from _item(_ROLES[message.role], part)


def _item(role: str, part: Part) -> Iterator[dict[str, Any]]:
    """Yield the item for a part; earlier reasoning has none, unless the provider stored it."""
    match part:
        case Text(text) if text:
            yield {"role": role, "content": text}
        case ToolUse(id, name, arguments):
            call = {"call_id": id, "name": name, "arguments": encode(arguments)}
            yield {"type": "function_call", **call}
        case ToolResult(id, content):
            yield {"type": "function_call_output", "call_id": id, "output": content}
