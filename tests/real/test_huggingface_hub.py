"""The contract on the huggingface_hub package: chat completions, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OpenAIChat
from tests.real.naive import (
    BOM_IS_READ,
    CHOICE_ALONE,
    CUT_CLEANLY,
    FAILING,
    NO_LOOK_AT_THE_TYPE,
    OPEN_WHILE_HANDLED,
    OPENAI_SHAPED,
    PackageTestCase,
    gzip_ends_alike,
    untranslated,
)
from tests.real.tools import openai_tools

try:
    from huggingface_hub import InferenceClient
    from huggingface_hub.errors import HfHubHTTPError
except ImportError as error:
    raise unittest.SkipTest("needs huggingface_hub: install modeltest-kit[real]") from error

ENDS_ALIKE = (
    "the package's loop ends alike at [DONE] and where the body ends, however early, and the "
    "wrapper then yields its Finish; half a line raises JSONDecodeError"
)
A_LINE_IS_AN_EVENT = (
    "the package parses each `data:` line by itself, and lets JSONDecodeError and, where the "
    "JSON is no object, AttributeError through"
)
SILENCE_IS_ANOTHER_ERROR = (
    "a silence before the headers raises the package's InferenceTimeoutError, one after them "
    "httpx2's ReadTimeout: neither is an HfHubHTTPError"
)
SPLIT_AS_TEXT = (
    "the package reads lines with httpx2's `iter_lines()`: that decodes by the charset of the "
    "header, and splits at U+0085, U+2028 and U+2029, which JSON allows inside its strings"
)


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
    title = "huggingface_hub, naive"
    adapter = NaiveHuggingFaceModel
    code = (NaiveHuggingFaceModel,)
    wire = OpenAIChat()
    model_error = HfHubHTTPError
    expected_failures: ClassVar = {
        **OPENAI_SHAPED,
        "tools/accepted": CHOICE_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx2"),
        **dict.fromkeys(FAILING, untranslated("httpx2", "HfHubHTTPError")),
        "faults/idle": SILENCE_IS_ANOTHER_ERROR,
        "faults/status": "the error's text and its response hold the whole body, however long",
        "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
        "framing/space": "the package knows [DONE] only after one space, and parses it otherwise",
        "framing/split-data": A_LINE_IS_AN_EVENT,
        "framing/malformed": A_LINE_IS_AN_EVENT,
        "framing/any-bytes": A_LINE_IS_AN_EVENT,
        "framing/empty-data": A_LINE_IS_AN_EVENT,
        "framing/unicode": SPLIT_AS_TEXT,
        "framing/charset": SPLIT_AS_TEXT,
        "framing/bom": BOM_IS_READ,
        "faults/error-event": "the package raises an UnknownError, which is no HfHubHTTPError",
        "release/failed": OPEN_WHILE_HANDLED,
    }
