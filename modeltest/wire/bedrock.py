"""AWS Bedrock's ConverseStream: a binary event stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.encoding import (
    TEXT,
    ErrorResponse,
    Framing,
    Malformed,
    Role,
    RolePayload,
    ToolNameRule,
    UsagePlacement,
    WireError,
    event_stream_frame,
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
from modeltest.wire.blocks import BlockFormat, only_begins

if TYPE_CHECKING:
    from modeltest.encoding import Body, Item, Payload
    from modeltest.wire.blocks import Block, Delta


_EXCEPTIONS = {
    "internalServerException": "The system encountered an unexpected error.",
    "modelStreamErrorException": "The model failed while it streamed its answer.",
    "validationException": "The input fails to satisfy the constraints.",
    "throttlingException": "Too many requests, please wait before trying again.",
    "serviceUnavailableException": "The service is unavailable right now.",
}
_STATUS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


class BedrockConverse(BlockFormat):
    """Bedrock's `converse-stream`; the counts follow the event that ends the answer.

    A payload is a mapping with one key, the event's type, and its content.
    """

    name = "Bedrock Converse"
    source = "botocore 1.44.8 data/bedrock-runtime/2023-09-30/service-2.json, eventstream.py"
    framing = Framing.EVENT_STREAM
    content_type = "application/vnd.amazon.eventstream"
    reasons: ClassVar[Mapping[str, str]] = {
        "end_turn": FinishReason.STOP,
        "max_tokens": FinishReason.LENGTH,
        "tool_use": FinishReason.TOOL_USE,
        "guardrail_intervened": FinishReason.FILTERED,
        "stop_sequence": FinishReason.STOP,
        "content_filtered": FinishReason.FILTERED,
        "model_context_window_exceeded": FinishReason.LENGTH,
        "malformed_model_output": "malformed_model_output",
        "malformed_tool_use": "malformed_tool_use",
    }
    usage_placements = (UsagePlacement.AFTER,)
    usage_counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    tool_names = ToolNameRule("[a-zA-Z0-9_-]+", 64, source="botocore 1.44.8, shape ToolName")
    tool_name_paths = (("toolConfig", "tools", "*", "toolSpec", "name"),)
    tool_choice_paths = (("toolConfig", "toolChoice"),)
    call_name_paths = (("messages", "*", "content", "*", "toolUse", "name"),)

    def frame(self, payload: Payload, n: int) -> bytes:
        """Return the frame of an event, its payload padded as the provider does."""
        if isinstance(payload, bytes):
            return payload
        inner = payload.payload if isinstance(payload, Malformed) else payload
        assert isinstance(inner, Mapping)
        ((kind, content),) = inner.items()
        text = to_json({**content, "p": "abcdefghijklmnopqrstuvwxyz"[: n % 26 + 1]})
        text = text[:-1] if isinstance(payload, Malformed) else text
        return _frame("event", {":event-type": kind}, text)

    def start_events(self, script: Sequence[Item]) -> Iterable[Payload]:
        """Return `messageStart`."""
        del script
        return ({"messageStart": {"role": "assistant"}},)

    def open_block(self, block: Block) -> Iterable[Payload]:
        """Return `contentBlockStart`, which only tool calls have."""
        if isinstance(block.opening, ToolCallDelta):
            start = {"toolUse": {"toolUseId": block.opening.id, "name": block.opening.name}}
            yield self._event("contentBlockStart", block.index, start=start)

    def fill_block(self, block: Block, delta: Delta) -> Iterable[Payload]:
        """Return a `contentBlockDelta` for each thing that `delta` says."""
        for said in _said(delta):
            yield self._event("contentBlockDelta", block.index, delta=said)

    def close_block(self, block: Block, finish: Finish | None) -> Iterable[Payload]:
        """Return `contentBlockStop`."""
        del finish
        return (self._event("contentBlockStop", block.index),)

    def _event(self, kind: str, index: int, **content: Any) -> dict[str, Any]:
        return {kind: {"contentBlockIndex": index, **content}}

    def closing_events(self, finish: Finish, blocks: Sequence[Block]) -> Iterable[RolePayload]:
        """Return `messageStop`, then `metadata` with the counts."""
        del blocks
        yield RolePayload(Role.FINISH, {"messageStop": {"stopReason": finish.raw}})
        if finish.usage != Usage():
            metrics = {"latencyMs": 551}
            metadata = {"metrics": metrics, "usage": _usage(finish.usage)}
            yield RolePayload(Role.USAGE, {"metadata": metadata})

    def add_field(self, payload: Payload) -> Payload:
        """Return `payload` with an unknown field in its content."""
        assert isinstance(payload, Mapping)
        return {kind: super(BedrockConverse, self).add_field(c) for kind, c in payload.items()}

    def malformed_events(self, payload: Any) -> Mapping[str, Payload]:
        """Return besides a frame whose payload does not match its checksum."""
        whole = self.frame(payload, 0)
        flipped = whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:]
        return {**super().malformed_events(payload), "a wrong checksum": flipped}

    def reasoning_proof(self) -> tuple[ReasoningDelta, ...]:
        """Return a signature: the models behind it sign each block of reasoning."""
        return (ReasoningDelta(signature="EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl"),)

    def call_id(self, index: int) -> str:
        """Return an id in Bedrock's style."""
        return f"tooluse_kZJMlvQmRJ6eAyJE5GI{index}"

    def special_turns(self) -> tuple[Body, ...]:
        """Return reasoning that the provider encrypted."""
        redacted = ReasoningDelta(redacted="EmwKAhgBEgy3va3pzix5LafPsn4aDFIT2Xlxh0L5L8rLVyI=")
        stop = Finish(FinishReason.STOP)
        return (self.encode(redacted, *TEXT, stop, name="redacted reasoning, text"),)

    def other_endings(self) -> tuple[Body, ...]:
        """Return a turn without its counts."""
        body = self.encode(*TEXT, Finish(FinishReason.STOP, usage=self.sample_usage))
        return (body.until(len(body.parts) - 1, "messageStop, no metadata"),)

    def unknown_events(self) -> Mapping[str, Sequence[Payload]]:
        """Return an event and a delta of unknown type, and a citation."""
        citation = {"citation": {"title": "no text", "sourceContent": [{"text": "no text"}]}}
        unknown = {"modeltestUnknown": {"text": "no text"}}
        return {
            "an event of unknown type": ({"modeltestUnknown": {"text": "no text"}},),
            "a delta of unknown type": (self._event("contentBlockDelta", 0, delta=unknown),),
            "a citation": (self._event("contentBlockDelta", 0, delta=citation),),
        }

    def unknown_blocks(self) -> Mapping[str, Sequence[Payload]]:
        """Return an image."""
        data = {"image": {"source": {"bytes": "bm8gdGV4dA=="}}}
        start = self._event("contentBlockStart", 1, start={"image": {"format": "png"}})
        delta = self._event("contentBlockDelta", 1, delta=data)
        return {"an image": (start, delta, self._event("contentBlockStop", 1))}

    def errors(self) -> tuple[WireError, ...]:
        """Return every exception, and an error frame, whose words stand in its headers."""
        words = "An internal server error occurred"
        headers = {":error-code": "internalFailure", ":error-message": words}
        error = _frame("error", headers, "")
        exceptions = [
            WireError(kind, kind, message, (_exception(kind, message),))
            for kind, message in _EXCEPTIONS.items()
        ]
        return (*exceptions, WireError("an error frame", "internalFailure", words, (error,)))

    def error_response(self, status: int) -> ErrorResponse:
        """Return AWS's error object with this HTTP status; its type travels in a header."""
        words = f"The request was refused with status {status}."
        kind = _STATUS.get(status, "InternalServerException")
        body = to_json({"message": words, "__type": kind}).encode()
        return ErrorResponse(status, "application/json", body, (words,))

    def json_answer(self) -> bytes:
        """Return a Converse response."""
        message = {"role": "assistant", "content": [{"text": "Hello"}]}
        answer = {"output": {"message": message}, "stopReason": "end_turn"}
        return to_json({**answer, "usage": _usage(self.sample_usage)}).encode()


def _said(delta: Delta) -> Iterable[dict[str, Any]]:
    match delta:
        case TextDelta():
            yield {"text": delta.text}
        case ToolCallDelta():
            if not only_begins(delta):
                yield {"toolUse": {"input": delta.arguments}}
        case _:
            for key, value in (
                ("text", delta.text),
                ("signature", delta.signature),
                ("redactedContent", delta.redacted),
            ):
                if value:
                    yield {"reasoningContent": {key: value}}


def _usage(usage: Usage) -> dict[str, int]:
    """Return the counts; those of the cache are not part of the input's."""
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "totalTokens": sum(usage.counts().values()),
        "cacheReadInputTokens": usage.cache_read_tokens,
        "cacheWriteInputTokens": usage.cache_write_tokens,
    }


def _exception(kind: str, message: str) -> bytes:
    return _frame("exception", {":exception-type": kind}, to_json({"message": message}))


def _frame(message_type: str, headers: Mapping[str, str], text: str) -> bytes:
    named = {**headers, ":content-type": "application/json", ":message-type": message_type}
    return event_stream_frame(named, text.encode())
