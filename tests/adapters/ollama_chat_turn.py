"""The lines of an Ollama answer → the events of a turn. No input or output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeltest import (
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    ReasoningDelta,
    TextDelta,
    Usage,
)

from .http_errors import api_error
from .payload import decode_object, get_count, get_object, get_objects, get_text
from .sse import ServerSentEvent
from .tool_call import whole_call

# Others are passed through: "load" and "unload" answer a request that asked for no words.
_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}


class OllamaTurn:
    """Reads one turn: lines of JSON, the last with `done`, the reason and the counts."""

    def __init__(self, *, secret: str = "") -> None:
        """Start a turn; no error quotes `secret`, even if the server repeats it."""
        self.over = False
        self._secret = secret
        self._reason = ""
        self._usage = Usage()
        self._calls = 0

    @property
    def complete(self) -> bool:
        """Whether the answer has ended. Done without a reason, the server lost its model."""
        return self.over and bool(self._reason)

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what a line adds to the answer.

        Raises:
            StreamProtocolError: it is no line of the format.
            TruncatedToolArgumentsError: a tool call's arguments are no object.
            APIError: it is an error.
        """
        if self.over:
            return
        line = decode_object(event.data)
        if line.get("error"):
            raise api_error(line, secret=self._secret)
        yield from self._content(line)
        if line.get("done") is True:
            self.over = True
            self._reason = get_text(line, "done_reason")
            self._usage = Usage(
                input_tokens=get_count(line, "prompt_eval_count"),
                output_tokens=get_count(line, "eval_count"),
            )

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn: the Finish.

        Raises:
            IncompleteResponseError: it has not ended.
        """
        if not self.complete:
            raise IncompleteResponseError("the response ended before a done_reason")
        reason = _REASONS.get(self._reason, self._reason)
        # The format has no reason of its own for calls.
        if reason == FinishReason.STOP and self._calls:
            reason = FinishReason.TOOL_USE
        yield Finish(reason, raw=self._reason, usage=self._usage)

    def _content(self, line: dict[str, Any]) -> Iterator[Event]:
        message = get_object(line, "message")
        if thinking := get_text(message, "thinking"):
            yield ReasoningDelta(thinking)
        if text := get_text(message, "content"):
            yield TextDelta(text)
        for call in get_objects(message, "tool_calls"):
            index, self._calls = self._calls, self._calls + 1
            function = get_object(call, "function")
            yield whole_call(
                index,
                # Older servers give none; the time of the line keeps the calls of turns apart.
                id=get_text(call, "id") or f"call_{get_text(line, 'created_at')}_{index}",
                name=get_text(function, "name"),
                arguments=function.get("arguments"),
            )
