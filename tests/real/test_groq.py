"""The contract on the groq package: chat completions, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OpenAIChat
from tests.real import causes
from tests.real.naive import PackageTestCase
from tests.real.tools import openai_tools

try:
    import groq
except ImportError as error:
    raise unittest.SkipTest("needs groq: install modeltest-kit[real]") from error


class NaiveGroqModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        self.client = groq.Groq(
            base_url=base_url, api_key=api_key, timeout=idle_timeout, max_retries=0
        )

    def stream(self, request: Request) -> Iterator[Event]:
        response = self.client.chat.completions.create(
            model="llama-3.3-70b-versatile",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            stream=True,
            **openai_tools(request),
        )
        for chunk in response:
            if chunk.choices and chunk.choices[0].delta.content:
                yield TextDelta(chunk.choices[0].delta.content)
        yield Finish(FinishReason.STOP)


class TestNaiveGroq(PackageTestCase):
    title = "groq, tutorial loop"
    adapter = NaiveGroqModel
    wire = OpenAIChat()
    model_error = groq.GroqError
    expected_failures = causes.GROQ
    skips = causes.NOT_RUN["groq, tutorial loop"]
