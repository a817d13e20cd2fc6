"""The contract on the groq package: chat completions, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import OpenAIChat
from tests.real.naive import (
    BOM_IS_READ,
    BROKEN_OFF,
    CHOICE_ALONE,
    CUT_CLEANLY,
    KEPT_BY_A_CYCLE,
    LEFT,
    MAY_HANG,
    NO_LOOK_AT_THE_TYPE,
    NOT_UTF8,
    OPEN_WHILE_HANDLED,
    OPENAI_SHAPED,
    READS_ON,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
    untranslated_in_stream,
)
from tests.real.tools import openai_tools

try:
    import groq
except ImportError as error:
    raise unittest.SkipTest("needs groq: install modeltest-kit[real]") from error

ENDS_ALIKE = (
    "the package's loop ends alike at [DONE] and where the body ends, however early, and the "
    "wrapper then yields its Finish"
)
ONE_KIND_OF_LINE_END = (
    "the package ends an event only at two line ends of the same kind: where they are mixed, "
    "it waits for more"
)
NAMED_EVENTS = (
    "an event with a name, such as `event: message`, comes wrapped in another object, whose "
    "`choices` are None: its text is lost"
)
NOT_A_GROQ_ERROR = (
    "an event that is no JSON raises JSONDecodeError, and `data: null` gives a chunk that is "
    "None: neither is a GroqError"
)


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
    title = "groq, naive"
    adapter = NaiveGroqModel
    code = (NaiveGroqModel,)
    wire = OpenAIChat()
    model_error = groq.GroqError
    expected_failures: ClassVar = {
        **dict.fromkeys(LEFT, KEPT_BY_A_CYCLE),
        **OPENAI_SHAPED,
        "tools/accepted": CHOICE_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx"),
        **dict.fromkeys((*BROKEN_OFF, "faults/idle"), untranslated_in_stream("httpx", "GroqError")),
        "framing/line-ends": ONE_KIND_OF_LINE_END,
        "framing/fields": NAMED_EVENTS,
        "framing/malformed": NOT_A_GROQ_ERROR,
        "framing/any-bytes": NOT_A_GROQ_ERROR,
        "framing/empty-data": NOT_A_GROQ_ERROR,
        "framing/invalid-utf8": NOT_UTF8,
        "framing/bom": BOM_IS_READ,
        "delivery/end": READS_ON,
        "faults/status": keeps_the_body("what is no JSON is its text"),
        "faults/not-a-stream": NO_LOOK_AT_THE_TYPE,
        "release/failed": OPEN_WHILE_HANDLED,
    }
    skips: ClassVar = {"release/many": MAY_HANG}
