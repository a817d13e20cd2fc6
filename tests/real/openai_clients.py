"""Two adapters over the openai package: as people write it, and with care."""

from __future__ import annotations

import json
import unittest
from collections.abc import Iterator

try:
    import openai
except ImportError as error:
    raise unittest.SkipTest("needs the openai package: install modeltest-kit[real]") from error

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from tests.adapters.openai_chat_request import chat_request
from tests.adapters.openai_chat_stream import ChatStream
from tests.adapters.openai_chat_turn import ChatTurn
from tests.adapters.read_turn import read_turn
from tests.real.careful import StayingClient, send
from tests.real.tools import openai_tools

_MODEL = "gpt-5"


class NaiveOpenAIModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(
        self, base_url: str, api_key: str, idle_timeout: float | None, max_retries: int = 0
    ) -> None:
        self.client = openai.OpenAI(
            base_url=base_url, api_key=api_key, timeout=idle_timeout, max_retries=max_retries
        )

    def stream(self, request: Request) -> Iterator[Event]:
        response = self.client.chat.completions.create(
            model=_MODEL,
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            stream=True,
            **openai_tools(request),
        )
        for chunk in response:
            if chunk.choices and chunk.choices[0].delta.content:
                yield TextDelta(chunk.choices[0].delta.content)
        yield Finish(FinishReason.STOP)


class CarefulOpenAIModel:
    """The package sends the request; its answer is read byte by byte, and always released."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None = None) -> None:
        self._api_key = api_key
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            http_client=StayingClient(idle_timeout),
        )

    def stream(self, request: Request) -> ChatStream:
        payload = json.loads(chat_request(_MODEL, request))
        body = send(self._client.chat.completions.create, payload, secret=self._api_key)
        return ChatStream(body, read_turn(body, ChatTurn(secret=self._api_key)))
