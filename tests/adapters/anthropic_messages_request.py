"""A request, spelled for Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from modeltest import (
    ConfigError,
    Image,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    ToolChoice,
    ToolResult,
    ToolUse,
)

from .images import ANTHROPIC_IMAGES, as_base64, check_images
from .payload import encode
from .tools import ANTHROPIC_NAMES, check_tools

# The format has two roles; what a tool gave back is told by the user.
_ROLES = {"user": "user", "tool": "user", "assistant": "assistant"}


def messages_request(model: str, max_tokens: int, request: Request) -> bytes:
    """Return the JSON body.

    Raises:
        ConfigError: the provider would refuse the request.
    """
    check_tools(request, ANTHROPIC_NAMES)
    check_images(request, ANTHROPIC_IMAGES)
    payload: dict[str, Any] = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": list(_messages(request)),
        "stream": True,
    }
    system = [message.text for message in request.messages if message.role == "system"]
    if words := "\n\n".join(filter(None, system)):
        payload["system"] = words
    if request.tools:
        payload["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.parameters,
            }
            for tool in request.tools
        ]
        if request.tool_choice:
            payload["tool_choice"] = _choice(request.tool_choice)
    return encode(payload).encode()


def _choice(choice: ToolChoice) -> dict[str, Any]:
    if choice.mode == "tool":
        return {"type": "tool", "name": choice.name}
    return {"type": "any" if choice.mode == "required" else choice.mode}


def _messages(request: Request) -> Iterator[dict[str, Any]]:
    """Yield one message a speaker: the results of parallel calls belong into one message."""
    spoken = [message for message in request.messages if message.role != "system"]
    for role, group in groupby(spoken, key=_role):
        parts = [part for message in group for part in message.parts]
        # Results first: they have to follow the message that made the calls.
        parts.sort(key=lambda part: not isinstance(part, ToolResult))
        if content := [block for part in parts for block in _blocks(part)]:
            yield {"role": role, "content": content}


def _role(message: Message) -> str:
    if message.role not in _ROLES:
        raise ConfigError(f"role: expected system, {', '.join(_ROLES)}, got {message.role!r}")
    return _ROLES[message.role]


def _blocks(part: Part) -> Iterator[dict[str, Any]]:
    """Yield the block for a part, or none where the provider would refuse it."""
    match part:
        case Text(text) if text:
            yield {"type": "text", "text": text}
        case Image(media_type):
            source = {"type": "base64", "media_type": media_type, "data": as_base64(part)}
            yield {"type": "image", "source": source}
        case Reasoning(redacted=data) if data:
            yield {"type": "redacted_thinking", "data": data}
        case Reasoning(text, signature) if signature:
            yield {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(id, name, arguments):
            yield {"type": "tool_use", "id": id, "name": name, "input": arguments}
        case ToolResult(id, content, is_error):
            yield {
                "type": "tool_result",
                "tool_use_id": id,
                "content": content,
                "is_error": is_error,
            }
