"""The contract on the cohere package: chat, version 2, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any, ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import CohereChat
from tests.real.naive import (
    CHOICE_ALONE,
    CUT_CLEANLY,
    FAILING,
    NO_REASON,
    TEXT_ALONE,
    TUTORIAL,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
    untranslated,
)
from tests.real.tools import openai_tools

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

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        self.client = cohere.ClientV2(api_key=api_key, base_url=base_url, timeout=idle_timeout)

    def stream(self, request: Request) -> Iterator[Event]:
        for event in self.client.chat_stream(
            model="command-a-03-2025",
            messages=[{"role": m.role, "content": m.text} for m in request.messages],
            request_options={"max_retries": 0},
            **_tools(request),
        ):
            if event.type == "content-delta" and event.delta.message.content.text:
                yield TextDelta(event.delta.message.content.text)
        yield Finish(FinishReason.STOP)


def _tools(request: Request) -> dict[str, Any]:
    """Return OpenAI's arguments; of the choices the package has but these two."""
    given = openai_tools(request)
    choice = given.pop("tool_choice", None)
    return given | ({"tool_choice": choice.upper()} if choice in ("none", "required") else {})


class TestNaiveCohere(PackageTestCase):
    title = "cohere, naive"
    adapter = NaiveCohereModel
    code = (NaiveCohereModel,)
    wire = CohereChat()
    model_error = ApiError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "tools/accepted": CHOICE_ALONE,
        "calls/invalid": TEXT_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx"),
        **dict.fromkeys(FAILING, untranslated("httpx", "cohere.core.ApiError")),
        "framing/line-ends": CR_IS_HELD,
        "framing/charset": "the package decodes by the charset of the header, if it names one",
        "framing/large": "the package refuses a line of more than 1 MiB, with its SSEError",
        "framing/malformed": "the package skips an event that is no JSON, with a line in its log",
        "faults/error-event": NO_REASON,
        "faults/status": keeps_the_body("in its text, and in the attribute `body`"),
        "faults/not-a-stream": (
            "another Content-Type raises the package's SSEError, which is one of httpx's "
            "TransportErrors and no ApiError"
        ),
    }
