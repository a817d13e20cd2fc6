"""A request, spelled for OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeltest import (
    ConfigError,
    Image,
    Message,
    Part,
    Request,
    Text,
    ToolChoice,
    ToolResult,
    ToolUse,
)

from .images import OPENAI_IMAGES, as_data_url, check_images
from .payload import encode
from .tools import OPENAI_CHAT_NAMES, check_tools


def chat_request(model: str, request: Request) -> bytes:
    """Return the JSON body.

    Raises:
        ConfigError: the provider would refuse the request.
    """
    check_tools(request, OPENAI_CHAT_NAMES)
    check_images(request, OPENAI_IMAGES)
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
            if content := _content(message):
                yield {"role": message.role, "content": content}
        case "assistant":
            yield _assistant_message(message)
        case "tool":
            pass
        case unknown:
            raise ConfigError(f"role: expected system, user, assistant or tool, got {unknown!r}")


def _content(message: Message) -> str | list[dict[str, Any]]:
    """Return the text; a list where there are images beside it, which not every server takes."""
    if not any(isinstance(part, Image) for part in message.parts):
        return message.text
    return [spelled for part in message.parts for spelled in _content_part(part)]


def _content_part(part: Part) -> Iterator[dict[str, Any]]:
    match part:
        case Text(text) if text:
            yield {"type": "text", "text": text}
        case Image():
            yield {"type": "image_url", "image_url": {"url": as_data_url(part)}}


def _assistant_message(message: Message) -> dict[str, Any]:
    """Return text and calls; the format has no place for earlier reasoning."""
    spelled: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.tool_uses:
        spelled["tool_calls"] = [_call(call) for call in message.tool_uses]
    return spelled


def _call(call: ToolUse) -> dict[str, Any]:
    function = {"name": call.name, "arguments": encode(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}
