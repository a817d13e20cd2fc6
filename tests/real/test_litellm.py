"""The contract on the litellm package, which speaks for other packages: here OpenAI's."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OpenAIChat
from tests.real import causes
from tests.real.naive import PackageTestCase
from tests.real.tools import openai_tools

try:
    import litellm
    import openai
except ImportError as error:
    raise unittest.SkipTest("needs litellm: install modeltest-kit[real]") from error

litellm.suppress_debug_info = True  # it prints, and does not log
# The package counts the tokens of an answer itself. What it needs for that takes seconds to load:
# here rather than in the middle of the first answer.
litellm.encode(model="gpt-5", text="hi")


class NaiveLiteLLMModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        self.base_url, self.api_key, self.timeout = base_url, api_key, idle_timeout

    def stream(self, request: Request) -> Iterator[Event]:
        response = litellm.completion(
            model="openai/gpt-5",
            api_base=self.base_url,
            api_key=self.api_key,
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            stream=True,
            timeout=self.timeout,
            max_retries=0,
            **openai_tools(request),
        )
        for chunk in response:
            if chunk.choices and chunk.choices[0].delta.content:
                yield TextDelta(chunk.choices[0].delta.content)
        yield Finish(FinishReason.STOP)


class TestNaiveLiteLLM(PackageTestCase):
    title = "litellm, tutorial loop"
    adapter = NaiveLiteLLMModel
    wire = OpenAIChat()
    model_error = openai.OpenAIError
    expected_failures = causes.LITELLM
    skips = causes.NOT_RUN["litellm, tutorial loop"]
