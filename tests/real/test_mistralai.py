"""The contract on the mistralai package: chat completions, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import MistralChat
from tests.real import causes
from tests.real.naive import PackageTestCase
from tests.real.tools import openai_tools

try:
    from mistralai.client import Mistral
    from mistralai.client.errors import MistralError
except ImportError as error:
    raise unittest.SkipTest("needs mistralai: install modeltest-kit[real]") from error


class NaiveMistralModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        milliseconds = idle_timeout and int(1000 * idle_timeout)
        self.client = Mistral(api_key=api_key, server_url=base_url, timeout_ms=milliseconds)

    def stream(self, request: Request) -> Iterator[Event]:
        with self.client.chat.stream(
            model="mistral-small-latest",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            **openai_tools(request),
        ) as events:
            for event in events:
                content = event.data.choices[0].delta.content
                if isinstance(content, str) and content:
                    yield TextDelta(content)
        yield Finish(FinishReason.STOP)


class TestNaiveMistral(PackageTestCase):
    title = "mistralai, tutorial loop"
    adapter = NaiveMistralModel
    wire = MistralChat()
    model_error = MistralError
    expected_failures = causes.MISTRALAI
