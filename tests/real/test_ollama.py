"""The contract on the ollama package."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OllamaChat
from tests.real.naive import (
    CUT_CLEANLY,
    FAILING,
    READS_ON,
    TEXT_ALONE,
    TUTORIAL,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
    untranslated,
)
from tests.real.tools import openai_tools

try:
    import ollama
except ImportError as error:
    raise unittest.SkipTest("needs ollama: install modeltest-kit[real]") from error

ENDS_ALIKE = (
    "the package's loop ends where the body does, whether or not a line with `done: true` came, "
    "and the wrapper then yields its Finish; half a line raises JSONDecodeError"
)
EVERY_LINE_IS_JSON = (
    "the package parses every line, an empty one too, and lets JSONDecodeError through, which is "
    "no ollama.ResponseError"
)
SPLIT_AS_TEXT = (
    "the package reads lines with httpx's `iter_lines()`: that decodes by the charset of the "
    "header, and splits at U+0085, U+2028 and U+2029, which JSON allows inside its strings"
)


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
    title = "ollama, naive"
    adapter = NaiveOllamaModel
    code = (NaiveOllamaModel,)
    wire = OllamaChat()
    model_error = ollama.ResponseError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "tools/accepted": (
            "the package has no tool choice, and the loop drops it: after `none` the model may "
            "call all the same"
        ),
        "finish/with-content": TEXT_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx"),
        **dict.fromkeys(FAILING, untranslated("httpx", "ollama.ResponseError")),
        "framing/blank-lines": EVERY_LINE_IS_JSON,
        "framing/malformed": EVERY_LINE_IS_JSON,
        "framing/any-bytes": EVERY_LINE_IS_JSON,
        "framing/unicode": SPLIT_AS_TEXT,
        "framing/charset": SPLIT_AS_TEXT,
        "delivery/end": READS_ON,
        "faults/status": keeps_the_body("what is no JSON is in its text"),
        "faults/not-a-stream": (
            "the package does not look at the Content-Type, and parses every line: one that is no "
            "JSON raises JSONDecodeError, one without a message pydantic's ValidationError, and "
            "neither is an ollama.ResponseError"
        ),
    }
