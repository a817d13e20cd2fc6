"""The contract on the google-genai package: Gemini, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import Gemini
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
    from google import genai
    from google.genai import errors, types
except ImportError as error:
    raise unittest.SkipTest("needs google-genai: install modeltest-kit[real]") from error

ENDS_ALIKE = (
    "the package's loop ends where the body does, however early; only a candidate's finish_reason "
    "would tell, and the wrapper yields its Finish without one. Half an event raises "
    "UnknownApiResponseError, which is no APIError"
)
CR_IS_HELD = (
    "the package keeps a CR back until it sees whether an LF follows: an event whose lines end "
    "in CR comes only with the next"
)
DATA_LINES_ALONE = (
    "a line that does not begin with `data: `, the space included, is taken for part of an error "
    "message in JSON, and fails to parse"
)
NOT_AN_API_ERROR = (
    "an event that is no JSON raises google.genai.errors.UnknownApiResponseError, which is a "
    "ValueError and no APIError"
)


class NaiveGenAIModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str) -> None:
        options = types.HttpOptions(base_url=base_url)
        self.client = genai.Client(api_key=api_key, http_options=options)

    def stream(self, request: Request) -> Iterator[Event]:
        for chunk in self.client.models.generate_content_stream(
            model="gemini-2.5-flash",
            contents=[
                types.Content(role=m.role, parts=[types.Part(text=m.text)])
                for m in request.messages
            ],
        ):
            if chunk.text:
                yield TextDelta(chunk.text)
        yield Finish(FinishReason.STOP)


class TestNaiveGenAI(PackageTestCase):
    title = "google-genai, naive"
    adapter = NaiveGenAIModel
    code = (NaiveGenAIModel,)
    wire = Gemini()
    model_error = errors.APIError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "finish/after": NO_REASON,
        "finish/with-content": TEXT_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx2"),
        **dict.fromkeys(BROKEN_OFF, untranslated("httpx2", "google.genai.errors.APIError")),
        "framing/line-ends": CR_IS_HELD,
        **dict.fromkeys(
            (
                "framing/comments",
                "framing/space",
                "framing/fields",
                "framing/bom",
                "framing/empty-data",
            ),
            DATA_LINES_ALONE,
        ),
        "framing/malformed": NOT_AN_API_ERROR,
        "framing/any-bytes": NOT_AN_API_ERROR,
    }

    def new_model(self, base_url: str, client: None) -> NaiveGenAIModel:
        return NaiveGenAIModel(base_url, self.api_key)
