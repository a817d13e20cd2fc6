"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    Framing,
    Malformed,
    Role,
    RolePayload,
    ToolNameRule,
    Unsupported,
    UsagePlacement,
    WireError,
    to_json,
)
from modeltest.interface import FinishReason, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from modeltest.wire.blocks import Block, BlockFormat, only_begins
from modeltest.wire.openai_errors import openai_error_response
from modeltest.wire.responses_output import item, part, place, response

if TYPE_CHECKING:
    from modeltest.encoding import ErrorResponse, Item, Payload
    from modeltest.interface import Finish
    from modeltest.wire.blocks import Delta


# What a block's events are called: its parts' start and end, and the deltas between them.
_PART = {Role.TEXT: "response.content_part", Role.REASONING: "response.reasoning_summary_part"}
_DELTA = {
    Role.TEXT: "response.output_text",
    Role.REASONING: "response.reasoning_summary_text",
    Role.CALL: "response.function_call_arguments",
}


_OPTIONAL = (
    "background",
    "max_output_tokens",
    "max_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
)
"""Fields of a response that repeat what was asked, and that the type does not demand."""


class OpenAIResponses(BlockFormat):
    """OpenAI's `/v1/responses`: numbered, named events about the items of a response.

    Reasoning is sent as a summary, as OpenAI's own models do.
    """

    name = "OpenAI Responses"
    source = "openai 3.57.0 types/responses/response_stream_event.py"
    framing = Framing.SSE
    content_type = "text/event-stream; charset=utf-8"
    named_events = True
    end_marker = "event: response.completed, or response.incomplete"
    stops_at_finish = True
    # The status of an ordinary end; the details of an incomplete one.
    reasons: ClassVar[Mapping[str, str]] = {
        "completed": FinishReason.STOP,
        "max_output_tokens": FinishReason.LENGTH,
        "content_filter": FinishReason.FILTERED,
        "max_messages": "max_messages",
        "steered": "steered",
    }
    calls_mean_tool_use = True
    interleaves_calls = True
    usage_placements = (UsagePlacement.ON,)
    usage_counts = ("input_tokens", "output_tokens", "cache_read_tokens")
    tool_names = ToolNameRule("[a-zA-Z0-9_-]+", 128, source="openai-openapi FunctionToolParam")
    tool_name_paths = (("tools", "*", "name"),)
    tool_choice_paths = (("tool_choice",),)
    call_name_paths = (("input", "*", "name"),)

    def frame(self, payload: Payload, n: int) -> bytes:
        """Return the bytes of the n-th event, numbered."""
        match payload:
            case Mapping():
                payload = _numbered(payload, n)
            case Malformed():
                payload = Malformed(_numbered(payload.payload, n))
        return super().frame(payload, n)

    def lean(self, payload: Payload) -> Payload:
        """Return an event without padding, and the response without its request's settings."""
        if not isinstance(payload, Mapping):
            return payload
        kept = {key: value for key, value in payload.items() if key != "obfuscation"}
        if "response" in kept:
            whole = kept["response"]
            kept["response"] = {key: whole[key] for key in whole if key not in _OPTIONAL}
        return kept

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return `response.created` and `response.in_progress`."""
        del script
        for kind in ("response.created", "response.in_progress"):
            yield {"type": kind, "response": response("in_progress")}

    def open_block(self, block: Block) -> Iterable[Payload]:
        """Return the start of an item, and of its only part."""
        added = {"output_index": block.index, "item": item(block)}
        yield {"type": "response.output_item.added", **added}
        if block.role in _PART:
            yield {"type": f"{_PART[block.role]}.added", **place(block), "part": part(block, "")}

    def fill_block(self, block: Block, delta: Delta) -> Iterable[Payload]:
        """Return the event that adds to an item."""
        if only_begins(delta):
            return
        event = {"type": f"{_DELTA[block.role]}.delta", **place(block), "delta": _said(delta)}
        logprobs: dict[str, Any] = {"logprobs": []} if block.role is Role.TEXT else {}
        # Padding against the size of an event giving away its text.
        yield {**event, **logprobs, "obfuscation": "t4NfU2"}

    def close_block(self, block: Block, finish: Finish | None) -> Iterable[Payload]:
        """Return the end of an item, which repeats all that came before."""
        done = {"type": f"{_DELTA[block.role]}.done", **place(block)}
        match block.role:
            case Role.CALL:
                yield {**done, "arguments": block.text}
            case Role.TEXT:
                yield {**done, "text": block.text, "logprobs": []}
            case _:
                yield {**done, "text": block.text}
        if block.role in _PART:
            whole = part(block, block.text)
            yield {"type": f"{_PART[block.role]}.done", **place(block), "part": whole}
        ended = {"output_index": block.index, "item": item(block, _status(finish))}
        yield {"type": "response.output_item.done", **ended}

    def closing_events(self, finish: Finish, blocks: Sequence[Block]) -> Iterable[RolePayload]:
        """Return `response.completed` or `response.incomplete`: the whole answer once more."""
        status = _status(finish)
        details = None if status == "completed" else {"reason": finish.raw}
        last = len(blocks) - 1
        whole = response(
            status,
            incomplete_details=details,
            output=[item(b, status if b.index == last else "completed") for b in blocks],
            usage=None if finish.usage == Usage() else _usage(finish.usage),
        )
        yield RolePayload(Role.FINISH, {"type": f"response.{status}", "response": whole})

    def accepted_raws(self, word: str) -> frozenset[str]:
        """Return the word; for an incomplete answer, its status too."""
        return frozenset({word} if word == "completed" else {word, "incomplete"})

    def call_id(self, index: int) -> str:
        """Return an id in OpenAI's style."""
        return f"call_Zk3v9QpXw2LtR7sYcB5nM8d{index}"

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return an event of unknown type, and an annotation."""
        at = {"item_id": "msg_0", "output_index": 0, "content_index": 0, "annotation_index": 0}
        annotation = {"type": "url_citation", "url": "https://example.com", "title": "no text"}
        range_ = {"start_index": 0, "end_index": 1}
        return {
            "an event of unknown type": (
                {"type": "response.modeltest_unknown", "delta": "no text", "output_index": 0},
            ),
            "an annotation": (
                {
                    "type": "response.output_text.annotation.added",
                    **at,
                    "annotation": {**annotation, **range_},
                },
            ),
        }

    def unknown_blocks(self) -> Mapping[str, Sequence[Payload]]:
        """Return a search that the server made, and an item of unknown type."""
        search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
        action = {"type": "search", "query": "no text"}
        unknown = {"type": "modeltest_item", "id": "mt_1", "text": "no text"}
        return {
            "a search that the server made": (
                _item_event("added", {**search, "status": "in_progress", "action": action}),
                {
                    "type": "response.web_search_call.completed",
                    "output_index": 1,
                    "item_id": "ws_1",
                },
                _item_event("done", {**search, "action": action}),
            ),
            "an item of unknown type": (
                _item_event("added", unknown),
                _item_event("done", unknown),
            ),
        }

    def errors(self) -> tuple[WireError, ...]:
        """Return the error event, and a failed response."""
        limit = "Rate limit reached for this model."
        failed = "The model failed to generate a response."
        flat = {"type": "error", "code": "rate_limit_exceeded", "message": limit, "param": None}
        error = {"code": "server_error", "message": failed}
        whole = {"type": "response.failed", "response": response("failed", error=error)}
        return (
            WireError("an error event", "rate_limit_exceeded", limit, (flat,)),
            WireError("response.failed", "server_error", failed, (whole,)),
        )

    def error_response(self, status: int) -> ErrorResponse:
        """Return OpenAI's error object with this HTTP status."""
        return openai_error_response(status)

    def json_answer(self) -> bytes:
        """Return a whole response object."""
        block = Block(0, TextDelta("Hello"), ["Hello"])
        usage = _usage(self.sample_usage)
        output = [item(block, "completed")]
        return to_json(response("completed", output=output, usage=usage)).encode()


def _numbered(event: Mapping[str, Any], n: int) -> dict[str, Any]:
    return {"type": event["type"], "sequence_number": n, **event}


def _said(delta: Delta) -> str:
    match delta:
        case ToolCallDelta():
            return delta.arguments
        case ReasoningDelta() if delta.signature or delta.redacted:
            raise Unsupported("OpenAI Responses sends reasoning as text only")
        case _:
            return delta.text


def _status(finish: Finish | None) -> str:
    return "completed" if finish is None or finish.raw == "completed" else "incomplete"


def _item_event(kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": 1, "item": item}


def _usage(usage: Usage) -> dict[str, Any]:
    """Return the counts: what the cache gave is part of the input's, reasoning of the output's."""
    prompt = usage.input_tokens + usage.cache_read_tokens
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": 0,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.output_tokens // 2},
        "total_tokens": prompt + usage.output_tokens,
    }
