"""Cohere's v2 chat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    TEXT,
    ErrorResponse,
    Framing,
    Role,
    RolePayload,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    to_json,
)
from modeltest.interface import Finish, FinishReason, ReasoningDelta, ToolCallDelta, Usage
from modeltest.wire.blocks import BlockFormat, only_begins

if TYPE_CHECKING:
    from modeltest.encoding import Body, Item, Payload
    from modeltest.wire.blocks import Block, Delta


class CohereChat(BlockFormat):
    """Cohere's `/v2/chat`: named events; `message-end` ends the turn, and `[DONE]` follows it.

    The plan that Cohere sends before tool calls (`tool-plan-delta`) is left out: whether it is
    reasoning or text is the adapter's choice.
    """

    name = "Cohere"
    source = "cohere 7.3.1 v2/types/v2chat_stream_response.py"
    framing = Framing.SSE
    content_type = "text/event-stream"
    named_events = True
    end_marker = "event: message-end"
    stops_at_finish = True
    reasons: ClassVar[Mapping[str, str]] = {
        "COMPLETE": FinishReason.STOP,
        "MAX_TOKENS": FinishReason.LENGTH,
        "TOOL_CALL": FinishReason.TOOL_USE,
        "STOP_SEQUENCE": FinishReason.STOP,
    }
    unknown_reason = "MODELTEST_UNKNOWN"
    usage_placements = (UsagePlacement.ON,)
    tool_names = ToolNameRule(None, None, source="undocumented for v2")
    tool_choices = frozenset({"auto", "none", "required"})
    tool_name_paths = (("tools", "*", "function", "name"),)
    tool_choice_paths = (("tool_choice",),)
    call_name_paths = (("messages", "*", "tool_calls", "*", "function", "name"),)

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return `message-start`."""
        del script
        message = {
            "role": "assistant",
            "content": [],
            "tool_plan": "",
            "tool_calls": [],
            "citations": [],
        }
        start = {"id": "b8f0e9a4-6c1d-4f0e-9a57-2d0c1b3e5f71", "type": "message-start"}
        return ({**start, "delta": {"message": message}},)

    def open_block(self, block: Block) -> Iterable[Payload]:
        """Return `content-start` or `tool-call-start`."""
        match block.opening:
            case ToolCallDelta():
                function = {"name": block.opening.name, "arguments": ""}
                call = {"id": block.opening.id, "type": "function", "function": function}
                yield self._event(block, "tool-call-start", tool_calls=call)
            case ReasoningDelta():
                content = {"type": "thinking", "thinking": ""}
                yield self._event(block, "content-start", content=content)
            case _:
                yield self._event(block, "content-start", content={"type": "text", "text": ""})

    def fill_block(self, block: Block, delta: Delta) -> Iterable[Payload]:
        """Return `content-delta` or `tool-call-delta`."""
        match delta:
            case ToolCallDelta() if only_begins(delta):
                return
            case ToolCallDelta():
                call = {"function": {"arguments": delta.arguments}}
                yield self._event(block, "tool-call-delta", tool_calls=call)
            case ReasoningDelta() if delta.signature or delta.redacted:
                raise Unsupported(f"{self.name} sends reasoning as text only")
            case ReasoningDelta():
                yield self._event(block, "content-delta", content={"thinking": delta.text})
            case _:
                yield self._event(block, "content-delta", content={"text": delta.text})

    def close_block(self, block: Block, finish: Finish | None) -> Iterable[Payload]:
        """Return `content-end` or `tool-call-end`."""
        del finish
        kind = "tool-call-end" if block.role is Role.CALL else "content-end"
        return ({"type": kind, "index": _index(block)},)

    def _event(self, block: Block, kind: str, **message: Any) -> dict[str, Any]:
        return {"type": kind, "index": _index(block), "delta": {"message": message}}

    def closing_events(self, finish: Finish, blocks: Sequence[Block]) -> Iterable[RolePayload]:
        """Return `message-end`."""
        del blocks
        yield RolePayload(
            Role.FINISH, self._message_end(finish_reason=finish.raw, **_usage(finish.usage))
        )

    def _message_end(self, **delta: Any) -> dict[str, Any]:
        return {"type": "message-end", "delta": delta}

    def end_events(self) -> Iterable[Payload]:
        """Return the marker that follows `message-end`."""
        return (b"data: [DONE]\n\n",)

    def call_id(self, index: int) -> str:
        """Return an id in Cohere's style."""
        return f"get_weather_3v76fs3zjrg{index}"

    def other_endings(self) -> tuple[Body, ...]:
        """Return a turn that ends with `message-end`, no `[DONE]` after it."""
        body = self.encode(*TEXT, Finish(FinishReason.STOP, usage=self.sample_usage))
        return (body.until(len(body.parts) - 1, "message-end, no [DONE]"),)

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return an event of unknown type, a citation and a debug event."""
        citation = {"start": 0, "end": 7, "text": "no text", "sources": [], "type": "TEXT_CONTENT"}
        start = {"type": "citation-start", "index": 0}
        return {
            "an event of unknown type": ({"type": "modeltest-unknown", "text": "no text"},),
            "a citation": (
                {**start, "delta": {"message": {"citations": citation}}},
                {"type": "citation-end", "index": 0},
            ),
            "a debug event": ({"type": "debug", "prompt": "no text"},),
        }

    def unknown_blocks(self) -> Mapping[str, Sequence[Payload]]:
        """Return content of unknown type."""
        content = {"type": "modeltest_unknown", "modeltest_unknown": "no text"}
        start = {"type": "content-start", "index": 1, "delta": {"message": {"content": content}}}
        delta = {"type": "content-delta", "index": 1, "delta": {"message": {"content": content}}}
        stop = {"type": "content-end", "index": 1}
        return {"content of unknown type": (start, delta, stop)}

    def errors(self) -> tuple[WireError, ...]:
        """Return the two finish reasons that are errors, with and without words."""
        words = "internal error while generating"
        failed = self._message_end(finish_reason="ERROR", error=words)
        timeout = self._message_end(finish_reason="TIMEOUT")
        marker = b"data: [DONE]\n\n"
        return (
            WireError("finish reason ERROR", "ERROR", words, (failed, marker)),
            WireError("finish reason TIMEOUT", "TIMEOUT", "", (timeout, marker)),
        )

    def error_response(self, status: int) -> ErrorResponse:
        """Return Cohere's error object with this HTTP status."""
        words = f"the request was refused with status {status}"
        body = {"id": "5b7f1f0e-2a34-4a9e-8f0b-6d1c2e3f4a5b", "message": words}
        return ErrorResponse(status, "application/json", to_json(body).encode(), (words,))

    def json_answer(self) -> bytes:
        """Return a chat response."""
        message = {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}
        answer = {"id": "b8f0e9a4", "finish_reason": "COMPLETE", "message": message}
        return to_json({**answer, **_usage(self.sample_usage)}).encode()


def _index(block: Block) -> int:
    # Tool calls are counted on their own.
    opening = block.opening
    return opening.index if isinstance(opening, ToolCallDelta) else block.index


def _usage(usage: Usage) -> dict[str, Any]:
    """Return the field that tells `usage`, if any: billed and processed counts are the same."""
    if usage == Usage():
        return {}
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {"usage": {"billed_units": counts, "tokens": counts, "cached_tokens": 0}}
