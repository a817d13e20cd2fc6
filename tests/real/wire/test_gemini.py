"""Gemini, as the google-genai package reads it."""

from __future__ import annotations

import json
import unittest
from collections.abc import Iterator
from typing import Any

from modeltest import ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.backend import Response, Send
from modeltest.wire import Gemini, Role
from tests.real.wire.reading import (
    CALLED,
    KEY,
    PARAMETERS,
    TOOL,
    Said,
    SpeaksTheFormat,
    arguments_of,
    ended,
    every_body,
    read,
)

try:
    from google import genai
    from google.genai import types
    from google.genai.errors import UnknownApiResponseError
except ImportError as error:
    raise unittest.SkipTest("needs google-genai: install modeltest-kit[real]") from error


class TestGemini(SpeaksTheFormat, unittest.TestCase):
    wires = (Gemini(),)

    def connect(self, url: str) -> genai.Client:
        return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))

    def read(self, client: Any) -> Iterator[Said]:
        calls = 0
        for response in client.models.generate_content_stream(model="m", contents="hi"):
            for said in self.said(response):
                if isinstance(said, ToolCallDelta):
                    yield ToolCallDelta(calls, said.id, said.name, said.arguments)
                    calls += 1
                else:
                    yield said

    def said(self, response: Any) -> Iterator[Said]:
        if response.usage_metadata:
            yield _usage(response.usage_metadata)
        if response.prompt_feedback and response.prompt_feedback.block_reason:
            yield ended(response.prompt_feedback.block_reason.value)
        for candidate in response.candidates or ():
            for part in (candidate.content and candidate.content.parts) or ():
                yield from _part(part)
            if candidate.finish_reason and candidate.finish_reason.value:
                yield ended(candidate.finish_reason.value)

    def ask(self, client: Any) -> str:
        return client.models.generate_content(model="m", contents="hi").text or ""

    def call(self, client: Any) -> None:
        call = types.Part(function_call=types.FunctionCall(name=CALLED, args={}))
        result = types.Part.from_function_response(name=CALLED, response={"time": "noon"})
        declaration = types.FunctionDeclaration(name=TOOL, parameters_json_schema=PARAMETERS)
        choice = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
        client.models.generate_content(
            model="m",
            contents=[
                types.Content(role="user", parts=[types.Part(text="hi")]),
                types.Content(role="model", parts=[call]),
                types.Content(role="user", parts=[result]),
            ],
            config=types.GenerateContentConfig(
                tools=[types.Tool(function_declarations=[declaration])],
                tool_config=types.ToolConfig(function_calling_config=choice),
            ),
        )


def _part(part: Any) -> Iterator[Said]:
    if call := part.function_call:
        yield ToolCallDelta(0, call.id or "", call.name, arguments_of(call.args))
    elif part.text:
        yield ReasoningDelta(part.text) if part.thought else TextDelta(part.text)


def _usage(counts: Any) -> Usage:
    cached = counts.cached_content_token_count or 0
    output = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
    return Usage(counts.prompt_token_count - cached, output, cached)


class TestGeminiArray(unittest.TestCase):
    """The package asks for `alt=sse` and reads nothing else; the array has the same objects."""

    def test_package_refuses_every_array(self) -> None:
        wire, package = Gemini(array=True), TestGemini()
        with package.provider() as (backend, client):
            for case, body in every_body(wire):
                with self.subTest(case=case, body=body.name):
                    backend.play(Response((Send(body.data),), content_type=wire.content_type))
                    with self.assertRaises(UnknownApiResponseError):
                        read(package.read(client))
            self.assertTrue(backend.exchanges[0].path.endswith("?alt=sse"))

    def test_array_holds_the_objects_that_the_package_reads_as_events(self) -> None:
        arrays = {body.name: body for _, body in every_body(Gemini(array=True))}
        for _, body in every_body(Gemini()):
            if body.first(Role.MALFORMED) is None:
                events = [json.loads(part.data.removeprefix(b"data: ")) for part in body.parts]
                array = arrays[body.name]
                open_array = array.data.rstrip().removesuffix(b"]")  # not all are closed
                self.assertEqual(json.loads(open_array + b"]"), events, body)
