"""A wire format of one's own in use: here for a reader by itself, in memory."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from modeltest import (
    APIError,
    Event,
    Finish,
    FinishReason,
    IncompleteResponseError,
    SSEReaderTestCase,
    StreamProtocolError,
    TextDelta,
    Usage,
)

from .file_body import FileBody
from .home_made_wire import AcmeLines
from .ndjson import LineDecoder
from .payload import decode_object, get_count, get_text
from .read_turn import read_turn
from .sse import ServerSentEvent
from .tool_call import PartialCall

_REASONS = {"done": FinishReason.STOP, "full": FinishReason.LENGTH, "tool": FinishReason.TOOL_USE}


class AcmeTurn:
    """Reads one turn of Acme Lines."""

    def __init__(self) -> None:
        """Start a turn."""
        self.over = False
        self._reason = ""
        self._usage = Usage()
        self._calls: dict[int, PartialCall] = {}

    @property
    def complete(self) -> bool:
        """Whether the last line has come."""
        return self.over

    def take(self, event: ServerSentEvent) -> Iterator[Event]:
        """Yield what a line adds to the answer."""
        line = decode_object(event.data)
        if "broken" in line:
            raise APIError(None, get_text(line, "why"), type=get_text(line, "broken"))
        if text := get_text(line, "say"):
            yield TextDelta(text)
        if "call" in line:
            call = self._calls.setdefault(get_count(line, "call"), PartialCall(len(self._calls)))
            id_, name, arguments = (get_text(line, field) for field in ("id", "tool", "json"))
            yield call.add(id=id_, name=name, arguments=arguments)
        if reason := get_text(line, "over"):
            self.over, self._reason = True, reason
            self._usage = _usage(line.get("tokens", []))

    def finish(self) -> Iterator[Event]:
        """Yield what ends the turn: the Finish."""
        if not self.over:
            raise IncompleteResponseError("the response ended before the last line")
        reason = _REASONS.get(self._reason, self._reason)
        for call in self._calls.values():
            if missing := call.end(reason):
                yield missing
        yield Finish(reason, raw=self._reason, usage=self._usage)


def _usage(tokens: Any) -> Usage:
    match tokens:
        case []:
            return Usage()
        case [int(asked), int(answered)]:
            return Usage(asked, answered)
    raise StreamProtocolError(f"expected two numbers of tokens, got {tokens!r:.80}")


class TestAcmeReader(SSEReaderTestCase):
    """The wire encodes the bodies, and says what each means."""

    wire = AcmeLines()

    def stream_sse(self, body: BinaryIO) -> Iterator[Event]:
        """Yield the events of a body of Acme Lines."""
        return read_turn(FileBody(body), AcmeTurn(), LineDecoder())
