"""The events of an OpenAI Responses stream → the events of a turn. No input or output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeltest import (
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    Usage,
)

from .http_errors import api_error
from .payload import decode_object, get_count, get_object, get_text
from .sse import ServerSentEvent
from .tool_call import PartialCall

_DELTAS: dict[str, type[TextDelta | ReasoningDelta]] = {
    "response.output_text.delta": TextDelta,
    # What the model says to its user, in place of the answer.
    "response.refusal.delta": TextDelta,
    "response.reasoning_text.delta": ReasoningDelta,
    "response.reasoning_summary_text.delta": ReasoningDelta,
}

# Why a response is incomplete; other reasons are passed through.
_REASONS = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
}


class ResponsesTurn:
    """Reads one turn: items, their pieces, and one of three events that end it.

    Most events repeat what others said. The text is read from its deltas; calls also from the
    items, which begin and end them.
    """

    def __init__(self, *, secret: str = "") -> None:
        """Start a turn; no error quotes `secret`, even if the provider repeats it."""
        self.over = False
        self._secret = secret
        self._reason: str = FinishReason.STOP
        self._raw = "completed"
        self._usage = Usage()
        # In the order they began; the place of its item in the output tells a call.
        self._calls: dict[int, PartialCall] = {}

    @property
    def complete(self) -> bool:
        """Whether the answer has ended: no earlier than the turn."""
        return self.over

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what the event adds to the answer; unknown types add nothing.

        Raises:
            StreamProtocolError: it is no event of the format, or contradicts an earlier one.
            APIError: it is an error, or says that the response failed.
        """
        if self.over or not event.data.strip():
            return
        data = decode_object(event.data)
        kind = get_text(data, "type") or event.type
        if kind == "error" or data.get("error"):
            raise self._failed(data)
        if kind in _DELTAS and (text := get_text(data, "delta")):
            yield _DELTAS[kind](text)
        match kind:
            case "response.output_item.added" | "response.output_item.done":
                yield from self._take_item(data)
            case "response.function_call_arguments.delta":
                yield self._call(data).add(arguments=get_text(data, "delta"))
            case "response.function_call_arguments.done":
                yield from _complete(self._call(data), get_text(data, "arguments"))
            case "response.completed" | "response.incomplete" | "response.failed":
                self._end(kind.removeprefix("response."), get_object(data, "response"))

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn, the Finish last.

        Raises:
            IncompleteResponseError: it has not ended.
            TruncatedToolArgumentsError: a tool call is not whole.
        """
        if not self.over:
            raise IncompleteResponseError("the response ended before response.completed")
        reason = self._reason
        if reason == FinishReason.STOP and self._calls:
            reason = FinishReason.TOOL_USE
        for call in self._calls.values():
            if delta := call.end(reason):
                yield delta
        yield Finish(reason, raw=self._raw, usage=self._usage)

    def _take_item(self, data: dict[str, Any]) -> Iterator[Event]:
        item = get_object(data, "item")
        # Others are messages, whose text comes in deltas, and what runs at the provider.
        if get_text(item, "type") != "function_call":
            return
        place = _place(data)
        if place not in self._calls:
            call = self._calls[place] = PartialCall(len(self._calls))
            yield call.add(id=get_text(item, "call_id"), name=get_text(item, "name"))
        yield from _complete(self._calls[place], get_text(item, "arguments"))

    def _call(self, data: dict[str, Any]) -> PartialCall:
        call = self._calls.get(_place(data))
        if call is None:
            raise StreamProtocolError("arguments came for a tool call that never began")
        return call

    def _end(self, kind: str, response: dict[str, Any]) -> None:
        status = get_text(response, "status") or kind
        if status == "incomplete":
            self._raw = get_text(get_object(response, "incomplete_details"), "reason") or status
            self._reason = _REASONS.get(self._raw, self._raw)
        elif status != "completed":
            raise self._failed(response)
        self._usage = _usage(get_object(response, "usage"))
        self.over = True

    def _failed(self, data: dict[str, Any]) -> Exception:
        """Return the error of an event, whose words stand in an object of their own or beside it.

        Its type is the code: that of the event says no more than "error".
        """
        error = get_object(data, "error") or {**data, "type": None}
        if not error.get("message"):
            status = get_text(data, "status") or "an error"
            error = {**error, "message": f"the response ended as {status}, without a word"}
        return api_error({"error": error}, secret=self._secret)


def _complete(call: PartialCall, whole: str) -> Iterator[ToolCallDelta]:
    """Yield what `whole` says more of a call's arguments than came before; empty says nothing."""
    came = "".join(call.arguments)
    if not came and whole:
        yield call.add(arguments=whole)
    elif whole and whole != came:
        raise StreamProtocolError(
            f"the arguments of tool call {call.name!r} came as {len(came)} characters, and whole "
            f"as {len(whole)} others"
        )


def _place(data: dict[str, Any]) -> int:
    place = data.get("output_index")
    if not isinstance(place, int):
        raise StreamProtocolError(f"'output_index': expected int, got {type(place).__name__}")
    return place


def _usage(usage: dict[str, Any]) -> Usage:
    details = get_object(usage, "input_tokens_details")
    read, written = get_count(details, "cached_tokens"), get_count(details, "cache_write_tokens")
    return Usage(
        # input_tokens includes what went through the cache; the neutral counts are disjoint.
        input_tokens=max(0, get_count(usage, "input_tokens") - read - written),
        output_tokens=get_count(usage, "output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
