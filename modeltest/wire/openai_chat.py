"""OpenAI Chat Completions, and the many servers that are compatible with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    ARGUMENTS,
    TEXT,
    Role,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    events_of,
    to_json,
)
from modeltest.interface import Finish, FinishReason, ToolCallDelta
from modeltest.wire.chat_completions import CREATED, ChatCompletions
from modeltest.wire.openai_errors import openai_error_response

if TYPE_CHECKING:
    from modeltest.encoding import Body, ErrorResponse, Item, Payload
    from modeltest.interface import ReasoningDelta, Usage


_PADDING = ("service_tier", "system_fingerprint", "obfuscation", "logprobs")


class OpenAIChat(ChatCompletions):
    """OpenAI Chat Completions, with `stream_options.include_usage`.

    Args:
        reasoning: the delta's field that carries reasoning: "reasoning_content" (DeepSeek, older
            vLLM) or "reasoning" (OpenRouter, vLLM, Ollama's compatible route). OpenAI itself
            sends none here, so without it the format has no reasoning.
    """

    name = "OpenAI Chat"
    source = "openai 3.57.0 types/chat/chat_completion_chunk.py"
    content_type = "text/event-stream; charset=utf-8"
    reasons: ClassVar[Mapping[str, str]] = {
        "stop": FinishReason.STOP,
        "length": FinishReason.LENGTH,
        "tool_calls": FinishReason.TOOL_USE,
        "content_filter": FinishReason.FILTERED,
        "function_call": FinishReason.TOOL_USE,
    }
    # vLLM counts on every chunk (continuous_usage_stats); others beside the finish or before it.
    usage_placements = tuple(UsagePlacement)
    usage_counts = ("input_tokens", "output_tokens", "cache_read_tokens")
    tool_names = ToolNameRule(
        "[a-zA-Z0-9_-]+", 64, source="openai 3.57.0 types/shared/function_definition.py"
    )
    envelope: ClassVar[Mapping[str, Any]] = {
        "id": "chatcmpl-CTq0rXv2m8kYw5Zb7dJfL1sAeHnQp",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": "gpt-4o-mini-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_560af6e559",
        "usage": None,  # null on every chunk but the last once include_usage is asked for
        "obfuscation": "q7Xc",  # padding against the size of a chunk giving away its text
    }
    choice: ClassVar[Mapping[str, Any]] = {"logprobs": None}
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ({}, {"reasoning": "reasoning_content"})

    def __init__(self, *, reasoning: str | None = None) -> None:
        self.reasoning = reasoning

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return the chunk that gives the role; its content is null before a tool call."""
        calls = isinstance(next(events_of(script), None), ToolCallDelta)
        content = None if calls else ""
        return (self.chunk({"role": "assistant", "content": content, "refusal": None}),)

    def reasoning_event(self, delta: ReasoningDelta) -> Payload:
        """Return a chunk with reasoning. Raises Unsupported without a field to put it in."""
        if self.reasoning is None or delta.signature or delta.redacted:
            raise Unsupported(
                f"{self.name} has no reasoning, or only its text: OpenAIChat(reasoning='reasoning')"
            )
        return self.chunk({"content": None, self.reasoning: delta.text})

    def usage_event(self, usage: Usage) -> Payload:
        """Return the chunk with usage and no choice."""
        details = {
            "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens, "audio_tokens": 0},
            "completion_tokens_details": {
                # Part of completion_tokens, not to be added to them.
                "reasoning_tokens": usage.output_tokens // 2,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }
        return {**self.envelope, "choices": [], "usage": {**self.usage_object(usage), **details}}

    def lean(self, payload: Payload) -> Payload:
        """Return a chunk as most compatible servers send it: no padding, no tier, no logprobs."""
        if not isinstance(payload, Mapping):
            return payload
        kept = {key: value for key, value in payload.items() if key not in _PADDING}
        choices = [{k: v for k, v in one.items() if k not in _PADDING} for one in kept["choices"]]
        return {**kept, "id": "chatcmpl-1", "created": 1, "model": "gpt-4o", "choices": choices}

    def call_id(self, index: int) -> str:
        """Return an id in OpenAI's style."""
        return f"call_Zk3v9QpXw2LtR7sYcB5nM8d{index}"

    def turns_without_reason(self) -> tuple[Body, ...]:
        """Return besides a turn that ends with `[DONE]` alone: an ordinary stop."""
        return (*super().turns_without_reason(), self._marker_alone())

    def other_endings(self) -> tuple[Body, ...]:
        """Return turns that end with part of the finish, its usage and the marker."""
        body = self.encode(*TEXT, Finish(FinishReason.STOP, usage=self.sample_usage))
        return (
            body.until(len(body.parts) - 1, "finish and usage, no [DONE]"),
            body.until(len(body.parts) - 2, "finish alone"),
            self._marker_alone(),
        )

    def _marker_alone(self) -> Body:
        payloads, _ = self.payloads_of(*TEXT, Finish(FinishReason.STOP))
        kept = [one for one in payloads if one.role is not Role.FINISH]
        return self.render("[DONE], no finish", kept, (*TEXT, Finish(FinishReason.STOP)))

    def incomplete_endings(self) -> tuple[Body, ...]:
        """Return a body that ends with its usage: neither finish nor `[DONE]`."""
        finish = Finish(FinishReason.STOP, usage=self.sample_usage)
        payloads, _ = self.payloads_of(*TEXT, finish)
        kept = [one for one in payloads if one.role not in (Role.FINISH, Role.END)]
        return (self.render("usage, but no finish", kept, TEXT),)

    def repeated_identities(self) -> tuple[Body, ...]:
        """Return one call whose later fragments repeat its id or name, empty, null or in full."""
        start, *fragments = self.tool_call(0, "get_weather", ARGUMENTS)
        entries = [self.tool_call_entry(delta) for delta in fragments]
        forms: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
            "the id repeated": ({"id": start.id}, {}),
            "an empty id": ({"id": ""}, {}),
            "a null id": ({"id": None, "type": None}, {}),
            "the name repeated": ({}, {"name": start.name}),
            "an empty name": ({}, {"name": ""}),
            "a null name": ({}, {"name": None}),
        }
        return tuple(
            self.call_body(
                f"{form} on later fragments",
                [
                    self.tool_call_entry(start),
                    *({**e, **outer, "function": {**inner, **e["function"]}} for e in entries),
                ],
                [start, *fragments],
            )
            for form, (outer, inner) in forms.items()
        )

    def misleading_indexes(self) -> tuple[Body, ...]:
        """Return besides two calls in fragments that share index 0."""
        one, two = (self.tool_call(0, "get_weather", ARGUMENTS, id=self.call_id(n)) for n in (0, 1))
        calls = [*one, *(ToolCallDelta(1, d.id, d.name, d.arguments) for d in two)]
        entries = [self.tool_call_entry(delta) for delta in (*one, *two)]
        name = "the same index for two calls in fragments"
        return (*super().misleading_indexes(), self.call_body(name, entries, calls))

    def missing_arguments(self) -> tuple[Body, ...]:
        """Return calls whose arguments are null or missing."""
        start = ToolCallDelta(0, self.call_id(0), "get_time")
        entry = self.tool_call_entry(start)
        forms = {
            "arguments null": {"name": start.name, "arguments": None},
            "arguments missing": {"name": start.name},
        }
        return tuple(
            self.call_body(name, [{**entry, "function": function}], [start])
            for name, function in forms.items()
        )

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return chunks without a choice, without a known delta, and with an annotation."""
        return {
            # Azure's first chunk, which carries only its filter's verdict on the prompt.
            "a chunk without choices": (
                {**self.envelope, "choices": [], "prompt_filter_results": []},
            ),
            "a delta of an unknown kind": (self.chunk({"modeltest_unknown": {"text": "no text"}}),),
            "an empty delta": (self.chunk({}),),
        }

    def errors(self) -> tuple[WireError, ...]:
        """Return OpenAI's error object, and what compatible servers make of it."""
        words = "The server had an error while processing your request."
        whole = {"message": words, "type": "server_error", "param": None, "code": None}
        numeric = {"message": "Engine is gone", "type": "InternalServerError", "param": None}
        lost = {"code": "server_error", "message": "Provider disconnected unexpectedly"}
        return (
            WireError("an error object", "server_error", words, ({"error": whole},)),
            # vLLM: the code is the status, and the usual marker follows.
            WireError(
                "an error object, then [DONE]",
                "InternalServerError",
                "Engine is gone",
                ({"error": {**numeric, "code": 500}}, "[DONE]"),
            ),
            # OpenRouter: beside a choice whose finish reason is "error".
            WireError(
                "an error in a chunk",
                "server_error",
                "Provider disconnected unexpectedly",
                ({**self.chunk({"content": ""}, "error"), "error": lost}, "[DONE]"),
            ),
        )

    def error_response(self, status: int) -> ErrorResponse:
        """Return OpenAI's error object with this HTTP status."""
        return openai_error_response(status)

    def json_answer(self) -> bytes:
        """Return a `chat.completion` object."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "Hello",
            "refusal": None,
            "annotations": [],
        }
        choice = {"index": 0, "message": message, **self.choice, "finish_reason": "stop"}
        answer = {**self.envelope, "object": "chat.completion", "choices": [choice]}
        del answer["obfuscation"]
        return to_json({**answer, "usage": self.usage_object(self.sample_usage)}).encode()
