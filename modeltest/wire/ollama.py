"""Ollama's `/api/chat`: one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    TEXT,
    ErrorResponse,
    Framing,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    WireFormat,
    to_json,
    whole_arguments,
)
from modeltest.interface import FinishReason

if TYPE_CHECKING:
    from modeltest.encoding import Item, Payload
    from modeltest.interface import ReasoningDelta, ToolCallDelta, Usage


# What Go's encoder escapes although JSON does not ask for it.
_GO_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


class OllamaChat(WireFormat):
    """Ollama's `/api/chat`.

    The last line has `done: true`, the reason and the counts. A last line without a reason is
    neither required nor forbidden here: the server sends it when its runner's connection closed,
    and releases before `done_reason` existed sent it always.
    """

    name = "Ollama"
    source = "ollama/ollama fb30760 api/types.go, server/routes.go; ollama 0.6.3 _types.py"
    framing = Framing.NDJSON
    content_type = "application/x-ndjson"
    end_marker = "the line with done: true"
    stops_at_finish = True
    reasons: ClassVar[Mapping[str, str]] = {
        "stop": FinishReason.STOP,
        "length": FinishReason.LENGTH,
        "load": "load",
        "unload": "unload",
    }
    usage_placements = (UsagePlacement.ON,)
    streams_arguments = False
    calls_mean_tool_use = True
    tool_names = ToolNameRule(None, None, source="ollama/ollama fb30760 api/types.go")
    tool_choices = frozenset({"auto", "none"})
    tool_name_paths = (("tools", "*", "function", "name"),)
    tool_choice_paths = (("tool_choice",),)
    call_name_paths = (("messages", "*", "tool_calls", "*", "function", "name"),)

    def line(self, message: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """Return one line's object."""
        return {
            "model": "llama3.2",
            "created_at": "2026-08-21T10:00:00.123456789Z",
            "message": {"role": "assistant", "content": "", **message},
            **(more or {"done": False}),
        }

    def text_event(self, text: str) -> Payload:
        """Return a line with text."""
        return self.line({"content": text})

    def reasoning_event(self, delta: ReasoningDelta) -> Payload:
        """Return a line with thinking."""
        if delta.signature or delta.redacted:
            raise Unsupported(f"{self.name} sends reasoning as text only")
        return self.line({"thinking": delta.text})

    def call_event(self, delta: ToolCallDelta) -> Payload:
        """Return a line with a whole call."""
        arguments = whole_arguments(self.name, delta)
        function = {"index": delta.index, "name": delta.name, "arguments": arguments}
        call = {"id": delta.id, "function": function} if delta.id else {"function": function}
        return self.line({"tool_calls": [call]})

    def finish_event(self, word: str) -> Payload:
        """Return the last line, its times in nanoseconds."""
        times = {"total_duration": 4_935_886_791, "load_duration": 534_986_708}
        return self.line({}, done=True, done_reason=word, **times)

    def usage_event(self, usage: Usage) -> Payload:
        """Return a line with the counts, to be merged with the finish."""
        counts = {"prompt_eval_count": usage.input_tokens, "eval_count": usage.output_tokens}
        times = {"prompt_eval_duration": 107_345_000, "eval_duration": 4_289_432_000}
        return self.line({}, **counts, **times)

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one line with all that `payloads` say."""
        message: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for payload in payloads:
            said = payload["message"]
            calls = message.get("tool_calls", []) + said.get("tool_calls", [])
            message = {**message, **said, "content": message.get("content", "") + said["content"]}
            if calls:
                message["tool_calls"] = calls
            merged = {**merged, **payload}
        return {**merged, "message": message}

    def serialize(self, payload: Payload) -> str:
        """Return the text of a payload, escaped as Go's encoder does."""
        return super().serialize(payload).translate(_GO_ESCAPES)

    def reason_script(self, word: str) -> Sequence[Item]:
        """Return a turn that ends with `word`; nothing is generated when a model is loaded."""
        text = () if word in ("load", "unload") else TEXT
        return (*text, self.finish(word))

    def errors(self) -> tuple[WireError, ...]:
        """Return a line with an error, which has no type."""
        words = "an error was encountered while running the model: unexpected EOF"
        return (WireError("an error line", "", words, ({"error": words},)),)

    def error_response(self, status: int) -> ErrorResponse:
        """Return Ollama's error object with this HTTP status."""
        words = f"the request was refused with status {status}"
        body = to_json({"error": words}).encode()
        return ErrorResponse(status, "application/json; charset=utf-8", body, (words,))

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return a line whose message holds nothing that is known."""
        return {
            "a message of an unknown kind": (self.line({"modeltest_unknown": "no text"}),),
            "an empty message": (self.line({}),),
        }
