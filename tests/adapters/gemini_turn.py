"""The events of a Google Gemini stream → the events of a turn. No input or output."""

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
    Usage,
)

from .gemini_request import nameless_id
from .http_errors import api_error
from .payload import decode_object, get_count, get_index, get_object, get_objects, get_text
from .sse import ServerSentEvent
from .tool_call import whole_call

# Others mean that no answer came about (LANGUAGE, MALFORMED_FUNCTION_CALL, …), and no neutral
# reason says that: they are passed through.
_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
            "ESCALATION",
        ),
        FinishReason.FILTERED,
    ),
}


class GeminiTurn:
    """Reads one turn.

    The answer ends with a `finishReason`, or with the `blockReason` of a prompt that is not
    answered at all. Nothing marks the end of the turn: usage may follow until the body ends.
    """

    over = False

    def __init__(self, *, secret: str = "") -> None:
        """Start a turn; no error quotes `secret`, even if the provider repeats it."""
        self._secret = secret
        self._reason = ""
        self._blocked = False
        self._usage = Usage()
        self._response_id = ""
        self._calls = 0

    @property
    def complete(self) -> bool:
        """Whether the answer has ended."""
        return bool(self._reason)

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what the event adds to the answer.

        Raises:
            StreamProtocolError: it is no response of the format, or contradicts an earlier one.
            TruncatedToolArgumentsError: a tool call's arguments are no object.
            APIError: it is an error.
        """
        if not event.data.strip():
            return
        response = decode_object(event.data)
        if response.get("error") or event.type == "error":
            raise api_error(response, secret=self._secret)
        # The last total counts: the provider sends a running one with every response.
        if usage := get_object(response, "usageMetadata"):
            self._usage = _usage(usage)
        self._response_id = get_text(response, "responseId") or self._response_id
        for candidate in get_objects(response, "candidates"):
            # One answer was asked for; other candidates are not part of it.
            if not get_index(candidate):
                yield from self._take_candidate(candidate)
        if blocked := get_text(get_object(response, "promptFeedback"), "blockReason"):
            self._blocked = True
            self._stop(blocked)

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn: the Finish.

        Raises:
            IncompleteResponseError: it has not ended.
        """
        if not self.complete:
            raise IncompleteResponseError("the response ended before a finishReason")
        reason = _REASONS.get(self._reason, self._reason)
        if self._blocked:
            reason = FinishReason.FILTERED
        if reason == FinishReason.STOP and self._calls:
            reason = FinishReason.TOOL_USE
        yield Finish(reason, raw=self._reason, usage=self._usage)

    def _take_candidate(self, candidate: dict[str, Any]) -> Iterator[Event]:
        for part in get_objects(get_object(candidate, "content"), "parts"):
            for event in self._content(part):
                if self._reason:
                    raise StreamProtocolError(f"content after finishReason {self._reason!r}")
                yield event
        self._stop(get_text(candidate, "finishReason"))

    def _content(self, part: dict[str, Any]) -> Iterator[Event]:
        text, is_thought = get_text(part, "text"), part.get("thought") is True
        signature = get_text(part, "thoughtSignature")
        # It proves the reasoning before this part, and has to come back on this very part.
        if signature or (is_thought and text):
            yield ReasoningDelta(text if is_thought else "", signature)
        if text and not is_thought:
            yield TextDelta(text)
        if call := get_object(part, "functionCall"):
            yield self._call(call)

    def _call(self, call: dict[str, Any]) -> Event:
        if call.get("willContinue") or call.get("partialArgs"):
            raise StreamProtocolError("a tool call came in pieces, which was not asked for")
        index, self._calls = self._calls, self._calls + 1
        return whole_call(
            index,
            id=get_text(call, "id") or nameless_id(self._response_id, index),
            name=get_text(call, "name"),
            arguments=call.get("args"),
        )

    def _stop(self, reason: str) -> None:
        if reason and self._reason and reason != self._reason:
            raise StreamProtocolError(f"finishReason {self._reason!r}, then {reason!r}")
        self._reason = reason or self._reason


def _usage(usage: dict[str, Any]) -> Usage:
    cached = get_count(usage, "cachedContentTokenCount")
    prompt = get_count(usage, "promptTokenCount") + get_count(usage, "toolUsePromptTokenCount")
    return Usage(
        # The prompt's count includes what the cache gave; the neutral counts are disjoint.
        input_tokens=max(0, prompt - cached),
        output_tokens=(
            get_count(usage, "candidatesTokenCount") + get_count(usage, "thoughtsTokenCount")
        ),
        cache_read_tokens=cached,
    )
