"""A request, spelled for OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeltest import ConfigError, Message, Request, ToolChoice, ToolResult, ToolUse

from .payload import encode
from .tools import OPENAI_CHAT_NAMES, check_tools


def chat_request(model: str, request: Request) -> bytes:
    """Return the JSON body.

    Raises:
        ConfigError: the provider would refuse the request.
    """
    check_tools(request, OPENAI_CHAT_NAMES)
    payload: dict[str, Any] = {
        "model": model,
        "messages": [spelled for message in request.messages for spelled in _messages(message)],
        "stream": True,
        # Without it a streamed answer has no token counts.
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        payload["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
        # A choice without tools is refused by the provider, even "none".
        if request.tool_choice:
            payload["tool_choice"] = _choice(request.tool_choice)
    return encode(payload).encode()


def _choice(choice: ToolChoice) -> str | dict[str, Any]:
    if choice.mode == "tool":
        return {"type": "function", "function": {"name": choice.name}}
    return choice.mode


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    # Results first: they have to follow the message that made the calls.
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield {"role": "tool", "tool_call_id": part.id, "content": part.content}
    match message.role:
        case "system" | "user":
            if message.text:
                yield {"role": message.role, "content": message.text}
        case "assistant":
            yield _assistant_message(message)
        case "tool":
            pass
        case unknown:
            raise ConfigError(f"role: expected system, user, assistant or tool, got {unknown!r}")


def _assistant_message(message: Message) -> dict[str, Any]:
    """Return text and calls; the format has no place for earlier reasoning."""
    spelled: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.tool_uses:
        spelled["tool_calls"] = [_call(call) for call in message.tool_uses]
    return spelled


def _call(call: ToolUse) -> dict[str, Any]:
    function = {"name": call.name, "arguments": encode(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}
