"""The contract on the huggingface_hub package: chat completions, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OpenAIChat
from tests.real import causes
from tests.real.naive import PackageTestCase
from tests.real.tools import openai_tools

try:
    from huggingface_hub import InferenceClient
    from huggingface_hub.errors import HfHubHTTPError
except ImportError as error:
    raise unittest.SkipTest("needs huggingface_hub: install modeltest-kit[real]") from error


class NaiveHuggingFaceModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        self.client = InferenceClient(base_url=base_url, api_key=api_key, timeout=idle_timeout)

    def stream(self, request: Request) -> Iterator[Event]:
        response = self.client.chat.completions.create(
            model="meta-llama/Llama-3.3-70B-Instruct",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            stream=True,
            **openai_tools(request),
        )
        for chunk in response:
            if chunk.choices and chunk.choices[0].delta.content:
                yield TextDelta(chunk.choices[0].delta.content)
        yield Finish(FinishReason.STOP)


class TestNaiveHuggingFace(PackageTestCase):
    title = "huggingface_hub, tutorial loop"
    adapter = NaiveHuggingFaceModel
    wire = OpenAIChat()
    model_error = HfHubHTTPError
    expected_failures = causes.HUGGINGFACE_HUB
