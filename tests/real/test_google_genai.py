"""The contract on the google-genai package: Gemini, streamed."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from modeltest import Event, Finish, FinishReason, Request, TextDelta
from modeltest.wire import Gemini
from tests.real import causes
from tests.real.naive import PackageTestCase

try:
    from google import genai
    from google.genai import errors, types
except ImportError as error:
    raise unittest.SkipTest("needs google-genai: install modeltest-kit[real]") from error


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
    title = "google-genai, tutorial loop"
    adapter = NaiveGenAIModel
    wire = Gemini()
    model_error = errors.APIError
    expected_failures = causes.GOOGLE_GENAI
