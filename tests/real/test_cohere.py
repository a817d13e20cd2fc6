"""The contract on the cohere package: chat, version 2, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import CohereChat
from tests.real.naive import (
    BROKEN_OFF,
    CUT_CLEANLY,
    NO_REASON,
    TEXT_ALONE,
    TUTORIAL,
    PackageTestCase,
    gzip_ends_alike,
    untranslated,
)

try:
    import cohere
    from cohere.core import ApiError
except ImportError as error:
    raise unittest.SkipTest("needs cohere: install modeltest-kit[real]") from error

ENDS_ALIKE = (
    "the package's loop ends where the body does, whether or not message-end came, and the "
    "wrapper then yields its Finish"
)
CR_IS_HELD = (
    "the package keeps a CR back until it sees whether an LF follows: an event whose lines end "
    "in CR comes only with the next"
)


class NaiveCohereModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.client = cohere.ClientV2(api_key=api_key, base_url=base_url)

    def stream(self, request: Request) -> Iterator[Event]:
        for event in self.client.chat_stream(
            model="command-a-03-2025",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            request_options={"max_retries": 0},
        ):
            if event.type == "content-delta" and event.delta.message.content.text:
                yield TextDelta(event.delta.message.content.text)
        yield Finish(FinishReason.STOP)


class TestNaiveCohere(PackageTestCase):
    title = "cohere, naive"
    adapter = NaiveCohereModel
    code = (NaiveCohereModel,)
    wire = CohereChat()
    model_error = ApiError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "calls/invalid": TEXT_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx"),
        **dict.fromkeys(BROKEN_OFF, untranslated("httpx", "cohere.core.ApiError")),
        "framing/line-ends": CR_IS_HELD,
        "framing/charset": "the package decodes by the charset of the header, if it names one",
        "framing/large": "the package refuses a line of more than 1 MiB, with its SSEError",
        "framing/malformed": "the package skips an event that is no JSON, with a line in its log",
        "faults/error-event": NO_REASON,
    }

    def new_model(self, base_url: str, client: None) -> NaiveCohereModel:
        return NaiveCohereModel(base_url, self.api_key)
