"""The contract on the cohere package: chat, version 2, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import CohereChat
from tests.real import causes
from tests.real.naive import PackageTestCase
from tests.real.tools import openai_tools

try:
    import cohere
    from cohere.core import ApiError
except ImportError as error:
    raise unittest.SkipTest("needs cohere: install modeltest-kit[real]") from error


class NaiveCohereModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        self.client = cohere.ClientV2(api_key=api_key, base_url=base_url, timeout=idle_timeout)

    def stream(self, request: Request) -> Iterator[Event]:
        for event in self.client.chat_stream(
            model="command-a-03-2025",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            request_options={"max_retries": 0},
            **_tools(request),
        ):
            if event.type == "content-delta" and event.delta.message.content.text:
                yield TextDelta(event.delta.message.content.text)
        yield Finish(FinishReason.STOP)


def _tools(request: Request) -> dict[str, Any]:
    """Return OpenAI's arguments; of the choices the package has but these two."""
    given = openai_tools(request)
    choice = given.pop("tool_choice", None)
    return given | ({"tool_choice": choice.upper()} if choice in ("none", "required") else {})


class TestNaiveCohere(PackageTestCase):
    title = "cohere, tutorial loop"
    adapter = NaiveCohereModel
    wire = CohereChat()
    model_error = ApiError
    expected_failures = causes.COHERE
