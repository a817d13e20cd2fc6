"""A small adapter that keeps the contract, for an invented provider.

Its answers are server-sent events: `data: {"text": "…"}`, at last `data: {"done": "stop"}`. A call
of a tool comes in one event: `data: {"call": 0, "id": "…", "name": "…", "arguments": "{…}"}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import requests
import urllib3

from modeltest.interface import (
    APIError,
    ConfigError,
    Finish,
    IncompleteResponseError,
    ModelError,
    StreamProtocolError,
    Text,
    TextDelta,
    ToolCallDelta,
    ToolChoice,
    ToolResult,
    ToolUse,
)

if TYPE_CHECKING:
    from modeltest.interface import Event, Message, Request


_TOOL_NAME = "[a-zA-Z0-9_-]{1,64}"


class AcmeModel:
    """Streams answers of Acme's models over requests; the stream is a generator."""

    def __init__(self, base_url: str, session: requests.Session, api_key: str) -> None:
        self._url = f"{base_url}/v1/answer"
        self._session = session
        self._headers = {"Authorization": f"Bearer {api_key}", "Accept-Encoding": "identity"}

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield the events of one answer.

        Raises:
            ConfigError: the provider would refuse the request; nothing was sent.
            ModelError: the provider failed, or its answer broke off.
        """
        payload = _payload(request)
        try:
            with self._session.post(
                self._url, json=payload, headers=self._headers, stream=True, allow_redirects=False
            ) as response:
                if response.status_code != 200:
                    raise APIError(
                        response.status_code, response.raw.read(2000).decode("utf-8", "replace")
                    )
                yield from _events(response)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise ModelError(f"the connection failed: {error}") from error


def _payload(request: Request) -> dict[str, Any]:
    names = [tool.name for tool in request.tools]
    called = [call.name for message in request.messages for call in message.tool_uses]
    for name in (*names, *called):  # the model may have made up what it called
        # fullmatch() and no \w: "$" would let a line feed pass, \w the letters of other scripts.
        if not re.fullmatch(_TOOL_NAME, name):
            raise ConfigError(f"expected a tool's name to be {_TOOL_NAME}, got {name!r}")
    if len(set(names)) < len(names):
        raise ConfigError(f"expected tools of different names, got {names}")
    return {
        "messages": [_message(message) for message in request.messages],
        "tools": [[tool.name, tool.description, tool.parameters] for tool in request.tools],
        **_choice(request.tool_choice, names),
    }


def _message(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for part in message.parts:
        match part:
            case Text(text):
                parts.append({"text": text})
            case ToolUse(id, name, arguments):
                parts.append({"call": id, "name": name, "arguments": arguments})
            case ToolResult(id, content):
                parts.append({"result": id, "content": content})
    return {"role": message.role, "parts": parts}


def _choice(choice: ToolChoice | None, names: Sequence[str]) -> dict[str, Any]:
    """Return what the request says of the choice: nothing where there is nothing to choose."""
    match choice:
        case None:
            return {}
        case ToolChoice("auto" | "none") if not names:
            return {}
        case ToolChoice("auto" | "none" | "required") if names:
            return {"choice": choice.mode}
        case ToolChoice("tool", name) if name in names:
            return {"choice": {"tool": name}}
    raise ConfigError(f"{choice} cannot be made of the tools {names}")


def _events(response: requests.Response) -> Iterator[Event]:
    for data in _payloads(response):
        event = _event(data)
        yield event
        if isinstance(event, Finish):
            return
    raise IncompleteResponseError("the answer ended before it was done")


def _event(data: str) -> Event:
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StreamProtocolError(f"an event is not JSON: {error}") from error
    match payload:
        case {"text": str(text)}:
            return TextDelta(text)
        case {"call": int(index), "id": str(id), "name": str(name), "arguments": str(arguments)}:
            return ToolCallDelta(index, id, name, arguments)
        case {"done": str(reason)}:
            return Finish(reason=reason, raw=reason)
    raise StreamProtocolError(f"expected an event with text, call or done, got {data[:80]!r}")


def _payloads(response: requests.Response) -> Iterator[str]:
    """Decode server-sent events; one counts once its blank line is there."""
    data: list[bytes] = []
    for number, line in enumerate(_lines(response)):
        field = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
        name, _, value = field.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line:
            payload, data = b"\n".join(data), []
            if payload:
                yield payload.decode("utf-8", "replace")


def _lines(response: requests.Response) -> Iterator[bytes]:
    """Split at LF, CR LF and CR; iter_lines() would tear a CR LF that is cut in two."""
    begun, after_cr = b"", False
    # read1() gives what has come; iter_content() would wait until a buffer is full.
    while chunk := response.raw.read1(decode_content=True):
        # A CR ends its line at once. The LF that may follow it ends no other.
        piece = chunk.removeprefix(b"\n") if after_cr else chunk
        after_cr = chunk.endswith(b"\r")
        *lines, begun = (begun + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield from lines
