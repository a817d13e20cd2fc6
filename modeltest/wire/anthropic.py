"""Anthropic Messages."""

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
    UsagePlacement,
    WireError,
    change_payloads,
    events_of,
    sse_event,
    to_json,
)
from modeltest.interface import (
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from modeltest.wire.blocks import Block, BlockFormat, only_begins

if TYPE_CHECKING:
    from modeltest.encoding import Body, Item, Payload
    from modeltest.wire.blocks import Delta


_STATUS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicMessages(BlockFormat):
    """Anthropic's `/v1/messages`: named events; the answer is whole with `message_stop`."""

    name = "Anthropic Messages"
    source = "anthropic 2.14.0 types/raw_message_stream_event.py"
    framing = Framing.SSE
    content_type = "text/event-stream; charset=utf-8"
    named_events = True
    end_marker = "event: message_stop"
    completes = Role.END
    reasons: ClassVar[Mapping[str, str]] = {
        "end_turn": FinishReason.STOP,
        "max_tokens": FinishReason.LENGTH,
        "tool_use": FinishReason.TOOL_USE,
        "refusal": FinishReason.FILTERED,
        "stop_sequence": FinishReason.STOP,
        "model_context_window_exceeded": FinishReason.LENGTH,
        "pause_turn": "pause_turn",  # no answer: the turn has to be continued
    }
    usage_placements = (UsagePlacement.ON,)
    usage_counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    tool_names = ToolNameRule("[a-zA-Z0-9_-]+", 128, unique=True, source="server error messages")
    tool_name_paths = (("tools", "*", "name"),)
    tool_choice_paths = (("tool_choice",),)
    call_name_paths = (("messages", "*", "content", "*", "name"),)

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return `message_start`, which counts the prompt and one generated token."""
        usages = (event.usage for event in events_of(script) if isinstance(event, Finish))
        usage = next(usages, Usage())
        message: dict[str, Any] = {
            "model": "claude-sonnet-4-5-20250929",
            "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                **_input_counts(usage),
                "output_tokens": min(1, usage.output_tokens),
                "service_tier": "standard",
            },
        }
        return ({"type": "message_start", "message": message},)

    def open_block(self, block: Block) -> Iterable[Payload]:
        """Return `content_block_start`; a ping after the first, an empty fragment for a call."""
        start = {"type": "content_block_start", "index": block.index}
        yield {**start, "content_block": _content_block(block.opening)}
        if block.index == 0:
            yield sse_event('{"type": "ping"}', event="ping")
        if block.role is Role.CALL:
            yield self._delta_event(block, "input_json_delta", partial_json="")

    def fill_block(self, block: Block, delta: Delta) -> Iterable[Payload]:
        """Return a `content_block_delta` for each thing that `delta` says."""
        match delta:
            case TextDelta():
                yield self._delta_event(block, "text_delta", text=delta.text)
            case ToolCallDelta() if not only_begins(delta):
                yield self._delta_event(block, "input_json_delta", partial_json=delta.arguments)
            case ReasoningDelta():
                if delta.text:
                    yield self._delta_event(block, "thinking_delta", thinking=delta.text)
                if delta.signature:
                    yield self._delta_event(block, "signature_delta", signature=delta.signature)

    def _delta_event(self, block: Block, kind: str, **said: str) -> dict[str, Any]:
        delta = {"type": kind, **said}
        return {"type": "content_block_delta", "index": block.index, "delta": delta}

    def close_block(self, block: Block, finish: Finish | None) -> Iterable[Payload]:
        """Return `content_block_stop`."""
        del finish
        return ({"type": "content_block_stop", "index": block.index},)

    def closing_events(self, finish: Finish, blocks: Sequence[Block]) -> Iterable[RolePayload]:
        """Return `message_delta`: the reason, and counts that replace those of the start."""
        del blocks
        sequence = "END" if finish.raw == "stop_sequence" else None
        counts = {**_input_counts(finish.usage), "output_tokens": finish.usage.output_tokens}
        delta = {"stop_reason": finish.raw, "stop_sequence": sequence}
        yield RolePayload(Role.FINISH, {"type": "message_delta", "delta": delta, "usage": counts})

    def end_events(self) -> Iterable[Payload]:
        """Return `message_stop`."""
        return ({"type": "message_stop"},)

    def serialize(self, payload: Payload) -> str:
        """Return the text of a payload, padded before its last brace as the provider does."""
        text = super().serialize(payload)
        return f"{text[:-1]}{' ' * (len(text) % 16)}}}" if isinstance(payload, Mapping) else text

    def reasoning_proof(self) -> tuple[ReasoningDelta, ...]:
        """Return a signature: the provider sends one with every block of thinking."""
        return (ReasoningDelta(signature="EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl"),)

    def call_id(self, index: int) -> str:
        """Return an id in Anthropic's style."""
        return f"toolu_01T1x1fJ34qAmk2tNTrN7Up{index}"

    def special_turns(self) -> tuple[Body, ...]:
        """Return reasoning that the provider encrypted."""
        redacted = ReasoningDelta(redacted="EmwKAhgBEgy3va3pzix5LafPsn4aDFIT2Xlxh0L5L8rLVyI")
        stop = Finish(FinishReason.STOP)
        return (self.encode(redacted, *TEXT, stop, name="redacted reasoning, text"),)

    def usage_variants(self) -> tuple[Body, ...]:
        """Return a `message_delta` that counts the output only, as it used to."""
        finish = Finish(FinishReason.STOP, usage=self.sample_usage)
        payloads, events = self.payloads_of(*TEXT, finish)
        older = change_payloads(payloads, Role.FINISH, _output_only)
        return (self.render("usage, output only at the end", older, events),)

    def incomplete_endings(self) -> tuple[Body, ...]:
        """Return an answer with its reason but no `message_stop`, and one without the reason."""
        payloads, _ = self.payloads_of(*TEXT, Finish(FinishReason.STOP))
        return tuple(
            self.render(name, [one for one in payloads if one.role is not role], TEXT)
            for name, role in (("no message_stop", Role.END), ("no message_delta", Role.FINISH))
        )

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return an event and a delta of unknown type, and a citation."""
        unknown = Block(0, TextDelta(""))
        location = {"type": "char_location", "cited_text": "no text", "document_index": 0}
        citation = {**location, "start_char_index": 0, "end_char_index": 7, "document_title": None}
        return {
            "an event of unknown type": ({"type": "modeltest_unknown", "text": "no text"},),
            "a delta of unknown type": (
                self._delta_event(unknown, "modeltest_delta", text="no text"),
            ),
            "a citation": (
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "citations_delta", "citation": citation},
                },
            ),
            "a ping": (sse_event('{"type": "ping"}', event="ping"),),
        }

    def unknown_blocks(self) -> Mapping[str, Sequence[Payload]]:
        """Return a tool that the server ran, and a block of unknown type."""
        tool = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {}}
        block = Block(1, TextDelta(""))
        start = {"type": "content_block_start", "index": 1}
        stop = {"type": "content_block_stop", "index": 1}
        query = self._delta_event(block, "input_json_delta", partial_json='{"query": "no call"}')
        return {
            "a tool that the server ran": ({**start, "content_block": tool}, query, stop),
            "a block of unknown type": (
                {**start, "content_block": {"type": "modeltest_block", "text": "no text"}},
                self._delta_event(block, "modeltest_delta", text="no text"),
                stop,
            ),
        }

    def errors(self) -> tuple[WireError, ...]:
        """Return error events of several types, and one that lost its `event:` line on the way."""
        words = {
            "overloaded_error": "Overloaded",
            "api_error": "Internal server error",
            "rate_limit_error": "Number of request tokens has exceeded your rate limit",
            "timeout_error": "Request timed out",
        }
        events = {
            kind: {"type": "error", "error": {"type": kind, "message": message}}
            for kind, message in words.items()
        }
        bare = sse_event(to_json(events["overloaded_error"]))
        return (
            *(WireError(kind, kind, words[kind], (event,)) for kind, event in events.items()),
            WireError("an error without its event line", "overloaded_error", "Overloaded", (bare,)),
        )

    def error_response(self, status: int) -> ErrorResponse:
        """Return Anthropic's error object with this HTTP status."""
        words = f"The request was refused with status {status}."
        default = "api_error" if status >= 500 else "invalid_request_error"
        error = {"type": _STATUS.get(status, default), "message": words}
        body = {"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
        return ErrorResponse(status, "application/json", to_json(body).encode(), (words,))

    def json_answer(self) -> bytes:
        """Return a `message` object."""
        (start,) = self.start_events(())
        assert isinstance(start, Mapping)
        content = [{"type": "text", "text": "Hello"}]
        return to_json({**start["message"], "content": content, "stop_reason": "end_turn"}).encode()


def _content_block(opening: Delta) -> dict[str, Any]:
    match opening:
        case ToolCallDelta():
            return {"type": "tool_use", "id": opening.id, "name": opening.name, "input": {}}
        case ReasoningDelta() if opening.redacted:
            return {"type": "redacted_thinking", "data": opening.redacted}
        case ReasoningDelta():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {"type": "text", "text": ""}


def _input_counts(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    }


def _output_only(event: Mapping[str, Any]) -> Payload:
    return {**event, "usage": {"output_tokens": event["usage"]["output_tokens"]}}
