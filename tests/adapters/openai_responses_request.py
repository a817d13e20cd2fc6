"""A request, spelled for OpenAI Responses."""

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
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
)

from .images import OPENAI_IMAGES, as_data_url, check_images
from .payload import encode
from .tools import OPENAI_RESPONSES_NAMES, check_tools

_ROLES = {"system": "system", "user": "user", "tool": "user", "assistant": "assistant"}


def responses_request(model: str, request: Request) -> bytes:
    """Return the JSON body.

    Raises:
        ConfigError: the provider would refuse the request.
    """
    check_tools(request, OPENAI_RESPONSES_NAMES)
    check_images(request, OPENAI_IMAGES)
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
    role = _ROLES[message.role]
    # Results first: they have to follow the calls.
    parts = sorted(message.parts, key=lambda part: not isinstance(part, ToolResult))
    # Words alone are items of their own; with images they are told apart within one item.
    if content := list(_content(parts)):
        parts = [part for part in parts if not isinstance(part, Text)]
    for part in parts:
        yield from _item(role, part)
    if content:
        yield {"role": role, "content": content}


def _content(parts: list[Part]) -> Iterator[dict[str, Any]]:
    """Yield texts and images in their order; nothing where there are no images."""
    if not any(isinstance(part, Image) for part in parts):
        return
    for part in parts:
        match part:
            case Text(text) if text:
                yield {"type": "input_text", "text": text}
            case Image():
                # "auto" is the default, and yet some servers refuse an image without it.
                yield {"type": "input_image", "image_url": as_data_url(part), "detail": "auto"}


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
