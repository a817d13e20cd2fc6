"""A request, spelled for Ollama."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeltest import ConfigError, Image, Message, Reasoning, Request, ToolResult

from .images import OLLAMA_IMAGES, as_base64, check_images
from .payload import encode
from .tools import OLLAMA_NAMES, check_tools


def ollama_request(model: str, request: Request) -> bytes:
    """Return the JSON body.

    Raises:
        ConfigError: the server would refuse the request, or could not do what it asks for.
    """
    check_tools(request, OLLAMA_NAMES)
    check_images(request, OLLAMA_IMAGES)
    mode = request.tool_choice.mode if request.tool_choice else "auto"
    if mode not in ("auto", "none"):
        # The format has no field for it. To send the request without would break its promise.
        raise ConfigError(f"tool choice: Ollama knows auto and none, got {mode!r}")
    names: dict[str, str] = {}
    payload: dict[str, Any] = {
        "model": model,
        "messages": [
            spelled for message in request.messages for spelled in _messages(message, names)
        ],
        "stream": True,
    }
    # A model that is to call none is shown none.
    if request.tools and mode == "auto":
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
    return encode(payload).encode()


def _messages(message: Message, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    # Results first: they have to follow the message that made the calls.
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield _result(part, names)
    match message.role:
        case "system" | "user":
            # Images stand beside the text: the format has no order for them.
            images = [as_base64(part) for part in message.parts if isinstance(part, Image)]
            if message.text or images:
                beside = {"images": images} if images else {}
                yield {"role": message.role, "content": message.text, **beside}
        case "assistant":
            names |= {call.id: call.name for call in message.tool_uses}
            yield _assistant_message(message)
        case "tool":
            pass
        case unknown:
            raise ConfigError(f"role: expected system, user, assistant or tool, got {unknown!r}")


def _result(part: ToolResult, names: dict[str, str]) -> dict[str, Any]:
    """Return what a tool gave back; the server tells the call by the tool's name."""
    if part.id not in names:
        raise ConfigError(f"tool result: no earlier message holds a call with id {part.id!r}")
    name = {"tool_name": names[part.id], "tool_call_id": part.id}
    return {"role": "tool", "content": part.content, **name}


def _assistant_message(message: Message) -> dict[str, Any]:
    spelled: dict[str, Any] = {"role": "assistant", "content": message.text}
    thinking = [part.text for part in message.parts if isinstance(part, Reasoning)]
    if any(thinking):
        spelled["thinking"] = "".join(thinking)
    if message.tool_uses:
        spelled["tool_calls"] = [
            # An object, where others take its text.
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_uses
        ]
    return spelled
