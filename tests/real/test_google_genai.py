"""The contract on the google-genai package: Gemini, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import ClassVar

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import Gemini
from tests.real.naive import (
    CHOICE_ALONE,
    CUT_CLEANLY,
    FAILING,
    NO_REASON,
    TEXT_ALONE,
    TUTORIAL,
    UNCHECKED_TOOLS,
    PackageTestCase,
    gzip_ends_alike,
    keeps_the_body,
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
ANY_JSON_IS_A_CHUNK = (
    "the package does not look at the Content-Type: an answer in JSON is a chunk to it, after "
    "which the wrapper yields its Finish, and a page raises UnknownApiResponseError, which is no "
    "APIError"
)
KEY_TRAVELS = (
    "the package makes its HTTP client follow redirects, and httpx2 then takes away no header but "
    "Authorization: the key is sent on in x-goog-api-key"
)


class NaiveGenAIModel:
    """The loop of every tutorial; its errors are the package's own."""

    def __init__(self, base_url: str, api_key: str, idle_timeout: float | None) -> None:
        milliseconds = idle_timeout and int(1000 * idle_timeout)
        options = types.HttpOptions(base_url=base_url, timeout=milliseconds)
        self.client = genai.Client(api_key=api_key, http_options=options)

    def stream(self, request: Request) -> Iterator[Event]:
        for chunk in self.client.models.generate_content_stream(
            model="gemini-2.5-flash",
            contents=[
                types.Content(role=m.role, parts=[types.Part(text=m.text)])
                for m in request.messages
            ],
            config=_tools(request),
        ):
            if chunk.text:
                yield TextDelta(chunk.text)
        yield Finish(FinishReason.STOP)


def _tools(request: Request) -> types.GenerateContentConfig:
    functions = [
        types.FunctionDeclaration(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.parameters),
        )
        for tool in request.tools
    ]
    config = types.GenerateContentConfig()
    if functions:
        config.tools = [types.Tool(function_declarations=functions)]
    if choice := request.tool_choice:
        mode = "ANY" if choice.mode in ("required", "tool") else choice.mode.upper()
        names = [choice.name] if choice.mode == "tool" else None
        calling = types.FunctionCallingConfig(mode=mode, allowed_function_names=names)
        config.tool_config = types.ToolConfig(function_calling_config=calling)
    return config


class TestNaiveGenAI(PackageTestCase):
    title = "google-genai, naive"
    adapter = NaiveGenAIModel
    code = (NaiveGenAIModel,)
    wire = Gemini()
    model_error = errors.APIError
    expected_failures: ClassVar = {
        **TUTORIAL,
        "tools/traps": UNCHECKED_TOOLS,
        "tools/accepted": CHOICE_ALONE,
        "finish/after": NO_REASON,
        "finish/with-content": TEXT_ALONE,
        **dict.fromkeys(CUT_CLEANLY, ENDS_ALIKE),
        "truncation/gzip": gzip_ends_alike("httpx2"),
        **dict.fromkeys(FAILING, untranslated("httpx2", "google.genai.errors.APIError")),
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
        "faults/status": keeps_the_body("what is no JSON is in its text"),
        "faults/not-a-stream": ANY_JSON_IS_A_CHUNK,
        "faults/redirect": KEY_TRAVELS,
    }
