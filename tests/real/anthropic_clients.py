"""Two adapters over the anthropic package: as people write it, and with care."""

from __future__ import annotations

import json
import unittest
from collections.abc import Iterator
from typing import Any

try:
    import anthropic
except ImportError as error:
    raise unittest.SkipTest("needs the anthropic package: install modeltest-kit[real]") from error

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from tests.adapters.anthropic_messages_request import messages_request
from tests.adapters.anthropic_messages_turn import MessagesTurn
from tests.adapters.openai_chat_stream import ChatStream
from tests.adapters.read_turn import read_turn
from tests.real.careful import StayingClient, send

_MODEL = "claude-sonnet-5"
_MAX_TOKENS = 1024


class NaiveAnthropicModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(
        self, base_url: str, api_key: str, idle_timeout: float | None, max_retries: int = 0
    ) -> None:
        self.client = anthropic.Anthropic(
            base_url=base_url, api_key=api_key, timeout=idle_timeout, max_retries=max_retries
        )

    def stream(self, request: Request) -> Iterator[Event]:
        with self.client.messages.stream(
            model=_MODEL,
            max_tokens=_MAX_TOKENS,
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            **_tools(request),
        ) as stream:
            for text in stream.text_stream:
                yield TextDelta(text)
        yield Finish(FinishReason.STOP)


class CarefulAnthropicModel:
    """The package sends the request; its answer is read byte by byte, and always released."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None = None) -> None:
        self._api_key = api_key
        self._client = anthropic.Anthropic(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            http_client=StayingClient(idle_timeout),
        )

    def stream(self, request: Request) -> ChatStream:
        payload = json.loads(messages_request(_MODEL, _MAX_TOKENS, request))
        body = send(self._client.messages.create, payload, secret=self._api_key)
        return ChatStream(body, read_turn(body, MessagesTurn(secret=self._api_key)))


def _tools(request: Request) -> dict[str, Any]:
    """Return the arguments as the package's documentation has them, unchecked."""
    given: dict[str, Any] = {}
    if request.tools:
        given["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    if choice := request.tool_choice:
        mode = "any" if choice.mode == "required" else choice.mode
        named = {"type": "tool", "name": choice.name}
        given["tool_choice"] = named if mode == "tool" else {"type": mode}
    return given
