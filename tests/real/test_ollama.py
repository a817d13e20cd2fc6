"""The contract on the ollama package."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OllamaChat
from tests.real import causes
from tests.real.naive import PackageTestCase
from tests.real.tools import openai_tools

try:
    import ollama
except ImportError as error:
    raise unittest.SkipTest("needs ollama: install modeltest-kit[real]") from error


class NaiveOllamaModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        headers = {"Authorization": f"Bearer {api_key}"}
        self.client = ollama.Client(host=base_url, headers=headers, timeout=idle_timeout)

    def stream(self, request: Request) -> Iterator[Event]:
        for part in self.client.chat(
            model="llama3.2",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            tools=openai_tools(request).get("tools"),  # the package has no tool choice
            stream=True,
        ):
            if part.message.content:
                yield TextDelta(part.message.content)
        yield Finish(FinishReason.STOP)


class TestNaiveOllama(PackageTestCase):
    title = "ollama, tutorial loop"
    adapter = NaiveOllamaModel
    wire = OllamaChat()
    model_error = ollama.ResponseError
    expected_failures = causes.OLLAMA
