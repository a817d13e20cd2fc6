"""The contract on the mistralai package: chat completions, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import MistralChat
from tests.real.naive import (
    CHOICE_ALONE,
    CUT_CLEANLY,
    FAILING,
    NO_REASON,
    NOT_UTF8,
    TEXT_ALONE,
    TUTORIAL,
    UNCHECKED_TOOLS,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
    untranslated,
)
from tests.real.tools import openai_tools

try:
    from mistralai.client import Mistral
    from mistralai.client.errors import MistralError
except ImportError as error:
    raise unittest.SkipTest("needs mistralai: install modeltest-kit[real]") from error

ENDS_ALIKE = (
    "the package's loop ends alike at [DONE] and where the body ends, however early, and the "
    "wrapper then yields its Finish"
)


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
    title = "mistralai, naive"
    adapter = NaiveMistralModel
    code = (NaiveMistralModel,)
    wire = MistralChat()
    model_error = MistralError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "tools/traps": UNCHECKED_TOOLS,
        "tools/accepted": CHOICE_ALONE,
        "finish/after": NO_REASON,
        "finish/with-content": TEXT_ALONE,
        "calls/index": TEXT_ALONE,
        "calls/invalid": TEXT_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx2"),
        **dict.fromkeys(FAILING, untranslated("httpx2", "MistralError")),
        "framing/any-bytes": NOT_UTF8,
        "framing/invalid-utf8": NOT_UTF8,
        "faults/error-event": NO_REASON,
        "faults/status": keeps_the_body("in the attributes `body` and `raw_response`"),
        "framing/bom": "the package knows a byte order mark only where it comes in one piece",
        "framing/empty-data": (
            "the package validates the empty data as a chunk: ResponseValidationError"
        ),
    }
