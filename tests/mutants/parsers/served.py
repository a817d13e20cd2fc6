"""Faults of an adapter that reads well: of the connection, or of what it keeps between turns."""

import threading
from dataclasses import replace

from modeltest import (
    Finish,
    IncompleteResponseError,
    ModelError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from tests.adapters.anthropic_messages import AnthropicMessagesModel

from .correct import ChatModel, ChatParser, ChatTurn, ResponseFile
from .table import fails


@fails(
    "finish/once-last",
    served=True,
    says=r"after its error the stream gave Finish\((.*\n)*.*more: .*a broken connection",
)
class FinishesAfterAnError(ChatModel):
    """Read on after its error, a stream takes what it has for the answer."""

    def stream(self, request):
        return _Resumable(super().stream(request))


class _Resumable:
    def __init__(self, events):
        self.events, self.failed = events, False

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self.events)
        except StopIteration:
            if self.failed:
                self.failed = False
                return Finish("stop", "stop")
            raise
        except ModelError:
            self.failed = True
            raise

    def close(self):
        self.events.close()


@fails(
    "isolation/reuse",
    served=True,
    says=r"usage: a turn without token counts gave Finish\(.*Usage\(input_tokens=23",
)
class KeepsUsage(ChatModel):
    """The last turn's counts stand until others come."""

    usage = Usage()

    def stream(self, request):
        for event in super().stream(request):
            if isinstance(event, Finish):
                self.usage = event.usage if event.usage != Usage() else self.usage
                yield Finish(event.reason, event.raw, self.usage)
            else:
                yield event


@fails(
    "isolation/parallel",
    served=True,
    says="two turns with a tool call each, side by side, did not each give",
)
class SharesItsCalls(ChatModel):
    """Fragments are collected in a dict that all streams have."""

    def stream(self, request):
        self.calls = {}
        for event in super().stream(request):
            if isinstance(event, ToolCallDelta):
                self.calls.setdefault(event.index, []).append(event)
                continue
            if isinstance(event, Finish):
                yield from (delta for deltas in self.calls.values() for delta in deltas)
            yield event


@fails(
    "isolation/interleaved",
    served=True,
    says="two tool calls: two turns with a tool call each, side by side, did not each",
)
class KeepsTurnsByThread(ChatModel):
    """What is known of a turn is kept for the thread that reads it."""

    here = threading.local()

    def stream(self, request):
        self.here.turn = ChatTurn()
        with self.ask(request) as response:
            for data in self.parse.payloads(ResponseFile(response)):
                yield from self.here.turn.take(data)
                if self.here.turn.done:
                    break
        yield from self.here.turn.end()


@fails("isolation/request", served=True, says="with tools and calls: the request was changed")
class EditsToolsAfterAnAnswer(ChatModel):
    """Once a turn is over, its tools are made ready for the next one."""

    def stream(self, request):
        yield from super().stream(request)
        for tool in request.tools:
            tool.parameters.setdefault("additionalProperties", False)


@fails(
    "faults/no-repeat",
    served=True,
    says=r"arguments cut .*: the answer failed after the consumer had \d events",
)
class RepeatsUntilAText(ChatModel):
    """Tries again until the first text, whatever calls were given before."""

    def stream(self, request):
        for left in reversed(range(2)):
            text = False
            try:
                for event in super().stream(request):
                    text |= isinstance(event, TextDelta)
                    yield event
                return
            except (ModelError, StreamProtocolError):
                if text or not left:
                    raise


@fails("release/failed", served=True, says=r"- an error .*the response is still open")
class StaysOpenAfterAnErrorEvent(ChatModel):
    """Closes the response on every way out that its author thought of."""

    def stream(self, request):
        turn = ChatTurn()
        response = self.ask(request)
        try:
            for data in self.parse.payloads(ResponseFile(response)):
                yield from turn.take(data)
                if turn.done:
                    break
            yield from turn.end()
        except (GeneratorExit, IncompleteResponseError):
            response.close()
            raise
        response.close()


@fails(
    "delivery/end",
    served=True,
    says="the turn was sent whole, and the iteration did not end",
)
class WaitsForTheEndOfTheBody(ChatParser):
    """The marker is one more payload."""

    class Turn(ChatTurn):
        marked = False

        @property
        def done(self):
            return False

        @done.setter
        def done(self, value):
            self.marked = value

        @property
        def complete(self):
            return bool(self.reason) or (self.marked and self.answered)


@fails("release/finished", served=True, says="turn after turn: the response is still open")
class LeavesTheLastChunk(ChatModel):
    """Stops at the marker, and keeps the response until the next turn."""

    def stream(self, request):
        turn = ChatTurn()
        self.response = self.ask(request)
        for data in self.parse.payloads(ResponseFile(self.response)):
            yield from turn.take(data)
            if turn.done:
                break
        yield from turn.end()


class LosesSignatures:
    """The Anthropic adapter, but for the proof of its reasoning."""

    def __init__(self, base_url, pool):
        self.model = AnthropicMessagesModel(base_url, api_key="key", pool=pool)

    def stream(self, request):
        for event in self.model.stream(request):
            yield replace(event, signature="") if isinstance(event, ReasoningDelta) else event
