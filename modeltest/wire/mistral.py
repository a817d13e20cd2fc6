"""Mistral chat completions: OpenAI's shape, with content in chunks and calls sent whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    ARGUMENTS,
    TEXT,
    ErrorResponse,
    Role,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    change_payloads,
    to_json,
)
from modeltest.interface import Finish, FinishReason
from modeltest.wire.chat_completions import CREATED, ChatCompletions

if TYPE_CHECKING:
    from modeltest.encoding import Body, Item, Payload
    from modeltest.interface import ReasoningDelta, ToolCallDelta, Usage


class MistralChat(ChatCompletions):
    """Mistral's `/v1/chat/completions`."""

    name = "Mistral"
    source = "mistralai 3.7.0 client/models/completionchunk.py, deltamessage.py, thinkchunk.py"
    reasons: ClassVar[Mapping[str, str]] = {
        "stop": FinishReason.STOP,
        "length": FinishReason.LENGTH,
        "tool_calls": FinishReason.TOOL_USE,
        "model_length": FinishReason.LENGTH,
    }
    usage_placements = (UsagePlacement.ON,)
    streams_arguments = False
    tool_names = ToolNameRule("[a-zA-Z0-9_-]+", 64, source="mistral-common validator.py")
    envelope: ClassVar[Mapping[str, Any]] = {
        "id": "b5c1f0a2d3e44f5a96b7c8d9e0f1a2b3",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": "mistral-small-latest",
        "p": "abcdefghijklm",  # padding against the size of a chunk giving away its text
    }

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return the chunk that gives the role."""
        del script
        return (self.chunk({"role": "assistant", "content": ""}),)

    def reasoning_event(self, delta: ReasoningDelta) -> Payload:
        """Return a chunk whose content is a list with a piece of thinking."""
        if delta.signature or delta.redacted:
            raise Unsupported(f"{self.name} sends reasoning as text only")
        thinking = [{"type": "text", "text": delta.text}]
        return self.chunk({"content": [{"type": "thinking", "thinking": thinking}]})

    def finish_event(self, word: str) -> Payload:
        """Return the chunk that names the finish reason, its content empty."""
        return self.chunk({"content": ""}, word)

    def usage_event(self, usage: Usage) -> Payload:
        """Return a chunk with usage, to be merged with the finish."""
        return {**self.envelope, "choices": [], "usage": self.usage_object(usage)}

    def tool_call_entry(self, delta: ToolCallDelta) -> dict[str, Any]:
        """Return one entry of `tool_calls`. Raises Unsupported for a fragment."""
        if not delta.name:
            raise Unsupported(f"{self.name} sends a call whole, not {delta!r:.80}")
        function = {"name": delta.name, "arguments": delta.arguments}
        return {"id": delta.id, "function": function, "index": delta.index}

    def call_id(self, index: int) -> str:
        """Return an id in Mistral's style: nine letters and digits."""
        return f"D681PevK{index}"

    def special_turns(self) -> tuple[Body, ...]:
        """Return text in a list of chunks, and arguments that are an object."""
        text, said = self.payloads_of(*TEXT, Finish(FinishReason.STOP))
        call = self.tool_call(0, "get_weather", ARGUMENTS)
        calls, called = self.payloads_of(*call, Finish(FinishReason.TOOL_USE))
        return (
            self.render(
                "text in lists of pieces", change_payloads(text, Role.TEXT, _in_list), said
            ),
            self.render(
                "arguments as an object", change_payloads(calls, Role.CALL, _as_object), called
            ),
        )

    def errors(self) -> tuple[WireError, ...]:
        """Return the finish reason "error": all that Mistral says in mid-stream."""
        chunk = self.chunk({"content": ""}, "error")
        return (WireError("finish reason error", "error", "", (chunk, "[DONE]")),)

    def error_response(self, status: int) -> ErrorResponse:
        """Return Mistral's error object with this HTTP status."""
        words = f"The request was refused with status {status}."
        error = {"object": "error", "message": words, "type": "invalid_request_error"}
        body = to_json({**error, "param": None, "code": "1500"}).encode()
        return ErrorResponse(status, "application/json", body, (words,))

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return chunks whose content is of a kind that is not text."""
        reference = {"type": "reference", "reference_ids": [0]}
        unknown = {"type": "modeltest_unknown", "text": "no text"}
        return {
            "a reference among the content": (self.chunk({"content": [reference]}),),
            "content of an unknown kind": (self.chunk({"content": [unknown]}),),
            "a delta of an unknown kind": (self.chunk({"modeltest_unknown": {"text": "no text"}}),),
        }

    def json_answer(self) -> bytes:
        """Return a `chat.completion` object."""
        message = {"role": "assistant", "content": "Hello", "tool_calls": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {**self.envelope, "object": "chat.completion", "choices": [choice]}
        return to_json({**answer, "usage": self.usage_object(self.sample_usage)}).encode()


def _in_list(chunk: Mapping[str, Any]) -> Payload:
    """Return the chunk with its text as a list of one piece."""
    (choice,) = chunk["choices"]
    content = [{"type": "text", "text": choice["delta"]["content"]}]
    return {**chunk, "choices": [{**choice, "delta": {"content": content}}]}


def _as_object(chunk: Mapping[str, Any]) -> Payload:
    """Return the chunk with the arguments of its call as an object."""
    (choice,) = chunk["choices"]
    (entry,) = choice["delta"]["tool_calls"]
    function = {**entry["function"], "arguments": json.loads(entry["function"]["arguments"])}
    delta = {"tool_calls": [{**entry, "function": function}]}
    return {**chunk, "choices": [{**choice, "delta": delta}]}
