"""The contract on the litellm package, which speaks for other packages: here OpenAI's."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OpenAIChat
from tests.real.naive import (
    BOM_IS_READ,
    KEPT_BY_A_CYCLE,
    LEFT,
    MAY_HANG,
    OPENAI_SHAPED,
    PackageTestCase,
    keeps_the_body,
)
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

EMPTY_IS_WHOLE = (
    "the package raises where the body ends without a finish_reason, but not where it holds no "
    "chunk at all; the wrapper then yields its Finish"
)
DONE_IS_NO_END = (
    "the package takes [DONE] without a finish_reason for an answer that was cut, though some "
    "compatible servers end theirs so"
)


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
    title = "litellm, naive"
    adapter = NaiveLiteLLMModel
    code = (NaiveLiteLLMModel,)
    wire = OpenAIChat()
    model_error = openai.OpenAIError
    expected_failures: ClassVar = {
        "faults/error-event": "the package keeps the provider's message, and drops its type",
        **dict.fromkeys(LEFT, KEPT_BY_A_CYCLE),
        **OPENAI_SHAPED,
        "truncation/empty": EMPTY_IS_WHOLE,
        "faults/not-a-stream": EMPTY_IS_WHOLE,
        "faults/status": keeps_the_body("in the attribute `body`"),
        "truncation/boundaries": EMPTY_IS_WHOLE,
        "truncation/prefix": EMPTY_IS_WHOLE,
        "truncation/good-endings": DONE_IS_NO_END,
        "finish/absent": DONE_IS_NO_END,
        "framing/bom": BOM_IS_READ,
        "framing/any-bytes": "the package hands on content that is no text as it is",
        "framing/empty-data": "the package takes empty data for a chunk, which is no JSON",
    }
    skips: ClassVar = {"release/many": MAY_HANG}
