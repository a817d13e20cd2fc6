"""A request, spelled for Google Gemini."""

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
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
)

from .images import GEMINI_IMAGES, as_base64, check_images
from .payload import encode
from .tools import GEMINI_NAMES, check_tools

# The format has two roles; what a tool gave back is told by the user.
_ROLES = {"user": "user", "tool": "user", "assistant": "model"}

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY", "tool": "ANY"}

_NO_PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"type": "object"},
    {"type": "object", "properties": {}},
)

_NAMELESS = "nameless:"


def nameless_id(response_id: str, index: int) -> str:
    """Return an id for a call that came without one, so that its result can be told apart.

    It is not sent back to the provider, who never gave it.
    """
    return f"{_NAMELESS}{response_id}:{index}"


def gemini_request(request: Request) -> bytes:
    """Return the JSON body. The model is named by the URL.

    Raises:
        ConfigError: the provider would refuse the request.
    """
    check_tools(request, GEMINI_NAMES)
    check_images(request, GEMINI_IMAGES)
    payload: dict[str, Any] = {"contents": list(_contents(request))}
    system = [message.text for message in request.messages if message.role == "system"]
    if parts := [{"text": text} for text in system if text]:
        payload["systemInstruction"] = {"parts": parts}
    if request.tools:
        payload["tools"] = [{"functionDeclarations": list(map(_declaration, request.tools))}]
        if request.tool_choice:
            payload["toolConfig"] = {"functionCallingConfig": _choice(request.tool_choice)}
    return encode(payload).encode()


def _declaration(tool: Tool) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name, "description": tool.description}
    # An object without properties may be refused. The older field "parameters" takes less
    # than JSON Schema.
    if tool.parameters not in _NO_PARAMETERS:
        declaration["parametersJsonSchema"] = tool.parameters
    return declaration


def _choice(choice: ToolChoice) -> dict[str, Any]:
    mode: dict[str, Any] = {"mode": _MODES[choice.mode]}
    return {**mode, "allowedFunctionNames": [choice.name]} if choice.mode == "tool" else mode


def _contents(request: Request) -> Iterator[dict[str, Any]]:
    """Yield one content a speaker: the results of parallel calls belong into one, alone."""
    spoken = [message for message in request.messages if message.role != "system"]
    names: dict[str, str] = {}
    said = [said for message in spoken for said in _said(message, names)]
    for (role, _), group in groupby(said, key=lambda each: each[:2]):
        if parts := [part for _, _, part in group if part]:
            yield {"role": role, "parts": _signed(parts)}


def _said(message: Message, names: dict[str, str]) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Yield for each part its role, whether it is a result, and how it is spelled."""
    if message.role not in _ROLES:
        raise ConfigError(f"role: expected system, {', '.join(_ROLES)}, got {message.role!r}")
    names |= {call.id: call.name for call in message.tool_uses}
    # Results first: they have to follow the message that made the calls.
    for part in sorted(message.parts, key=lambda part: not isinstance(part, ToolResult)):
        yield _ROLES[message.role], isinstance(part, ToolResult), _part(part, names)


def _part(part: Part, names: dict[str, str]) -> dict[str, Any]:
    """Return the part, or an empty one where there is nothing to send."""
    match part:
        case Text(text) if text:
            return {"text": text}
        case Image(media_type):
            return {"inlineData": {"mimeType": media_type, "data": as_base64(part)}}
        # What it thought is not sent back, only the proof.
        case Reasoning(signature=signature) if signature:
            return {"thoughtSignature": signature}
        case ToolUse(id, name, arguments):
            return {"functionCall": {**_id(id), "name": name, "args": arguments}}
        case ToolResult(id, content, is_error):
            if id not in names:
                raise ConfigError(f"tool result: no earlier message holds a call with id {id!r}")
            response = {"error" if is_error else "output": content}
            return {"functionResponse": {**_id(id), "name": names[id], "response": response}}
    return {}


def _id(id_: str) -> dict[str, str]:
    return {"id": id_} if id_ and not id_.startswith(_NAMELESS) else {}


def _signed(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts, each signature on the part that follows it; the last may have none."""
    signed: list[dict[str, Any]] = []
    signature: dict[str, Any] = {}
    for part in parts:
        if part.keys() == {"thoughtSignature"}:
            signature = part
        else:
            signed.append({**part, **signature})
            signature = {}
    return [*signed, {"text": "", **signature}] if signature else signed
