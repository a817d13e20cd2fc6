"""Broken readers of whole OpenAI Chat turns: what finish/*, calls/*, framing/* and the cuts catch.

`Chat` is correct and made of small methods; each subclass has one realistic fault.
"""

import json
import threading
from dataclasses import replace

from urllib3.exceptions import HTTPError

from modeltest import (
    Finish,
    FinishReason,
    IncompleteResponseError,
    ModelError,
    ReasoningDelta,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from tests.adapters.anthropic_messages import AnthropicMessagesModel
from tests.adapters.openai_chat_request import chat_request
from tests.adapters.sse import SSEDecoder
from tests.adapters.tool_call import PartialCall

REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_USE,
    "function_call": FinishReason.TOOL_USE,
    "content_filter": FinishReason.FILTERED,
}


class Chat:
    """A correct adapter over requests; one `_Turn` a stream."""

    def __init__(self, base_url, session):
        self.url, self.session = base_url + "/chat/completions", session

    def stream(self, request):
        turn = self.Turn()
        try:
            with self.session.post(
                self.url,
                data=self.body(request),
                headers={"Accept-Encoding": "identity"},
                stream=True,
            ) as response:
                if response.status_code != 200:
                    raise ModelError(f"HTTP {response.status_code}")
                for data in self.payloads(response):
                    yield from turn.take(data)
                    if turn.done:
                        break
        except (OSError, HTTPError) as error:
            if not turn.complete:
                raise ModelError(str(error)) from error
        yield from turn.end()

    def body(self, request):
        return chat_request("parrot-1", request)

    def payloads(self, response):
        decoder = SSEDecoder()
        for chunk in self.chunks(response):
            for event in decoder.feed(chunk):
                yield event.data

    def chunks(self, response):
        while chunk := response.raw.read1(65536, decode_content=True):
            yield chunk

    class Turn:
        done = False

        def __init__(self):
            self.reason, self.usage, self.answered = "", Usage(), False
            self.calls, self.by_id, self.by_index = [], {}, {}

        @property
        def complete(self):
            return bool(self.reason) or (self.done and self.answered)

        def take(self, data):
            if not data.strip():
                return
            if data == "[DONE]":
                self.done = True
                return
            chunk = self.parse(data)
            if chunk.get("error"):
                raise ModelError(str(chunk["error"]))
            if isinstance(chunk.get("usage"), dict):
                self.count(chunk["usage"])
            for choice in self.choices(chunk):
                self.answered = True
                yield from self.choice(choice)

        def parse(self, data):
            try:
                chunk = json.loads(data)
            except ValueError as error:
                raise StreamProtocolError(f"no JSON: {error}") from error
            if not isinstance(chunk, dict):
                raise StreamProtocolError("no object")
            return chunk

        def choices(self, chunk):
            choices = chunk.get("choices")
            return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []

        def choice(self, choice):
            for event in self.content(choice.get("delta")):
                if self.reason:
                    raise StreamProtocolError("content after the finish")
                yield event
            word = choice.get("finish_reason")
            if isinstance(word, str) and word:
                self.reason = word

        def content(self, delta):
            if not isinstance(delta, dict):
                return
            if isinstance(delta.get("content"), str) and delta["content"]:
                yield TextDelta(delta["content"])
            entries = delta.get("tool_calls")
            for entry in entries if isinstance(entries, list) else []:
                if isinstance(entry, dict):
                    yield from self.fragment(entry)

        def fragment(self, entry):
            function = entry.get("function")
            function = function if isinstance(function, dict) else {}
            id_, name, arguments = (
                value if isinstance(value, str) else ""
                for value in (entry.get("id"), function.get("name"), function.get("arguments"))
            )
            index = entry.get("index")
            call = self.call(index if isinstance(index, int) else None, id_, name)
            yield self.add(call, id_, name, arguments)

        def add(self, call, id_, name, arguments):
            return call.add(id=id_, name=name, arguments=arguments)

        def call(self, index, id_, name):
            call = self.by_id.get(id_)
            if call is None and not (name and id_):
                call = self.by_index.get(index)
                if call is None and index is None and self.calls and not name:
                    call = self.calls[-1]
            if call is None:
                call = PartialCall(len(self.calls))
                self.calls.append(call)
            if id_:
                self.by_id[id_] = call
            if index is not None:
                self.by_index[index] = call
            return call

        def count(self, usage):
            details = usage.get("prompt_tokens_details")
            cached = self.number(details if isinstance(details, dict) else {}, "cached_tokens")
            self.usage = Usage(
                max(0, self.number(usage, "prompt_tokens") - cached),
                self.number(usage, "completion_tokens"),
                cached,
            )

        def number(self, counts, name):
            return counts[name] if type(counts.get(name)) is int else 0

        def end(self):
            if not self.complete:
                raise IncompleteResponseError("the end of the turn is missing")
            reason = self.neutral(self.reason)
            for call in self.calls:
                yield from self.finish_call(call, reason)
            if reason == FinishReason.TOOL_USE and not self.calls:
                raise StreamProtocolError("a tool finish without a call")
            yield Finish(reason, self.reason, self.usage)

        def neutral(self, word):
            return REASONS.get(word, word) if word else FinishReason.STOP

        def finish_call(self, call, reason):
            delta = call.end(reason)
            return [delta] if delta else []


def of_turn(name, **methods):
    """Return a `Chat` whose turn differs in these methods."""
    turn = type("Turn", (Chat.Turn,), methods)
    return type(name, (Chat,), {"Turn": turn})


# finish


def _twice(self):
    events = list(Chat.Turn.end(self))
    yield from [*events, events[-1]]


FinishTwice = of_turn("FinishTwice", end=_twice)
LengthAsStop = of_turn(
    "LengthAsStop",
    neutral=lambda self, word: (
        FinishReason.STOP if word == "length" else Chat.Turn.neutral(self, word)
    ),
)
UnknownAsStop = of_turn(
    "UnknownAsStop", neutral=lambda self, word: REASONS.get(word, FinishReason.STOP)
)
MarkerAloneIsCut = of_turn("MarkerAloneIsCut", complete=property(lambda self: bool(self.reason)))


def _summed(self, usage):
    before = self.usage
    Chat.Turn.count(self, usage)
    self.usage = Usage(
        *(
            a + b
            for a, b in zip(before.counts().values(), self.usage.counts().values(), strict=True)
        )
    )


UsageSummed = of_turn("UsageSummed", count=_summed)


def _usage_ends(self, usage):
    Chat.Turn.count(self, usage)
    self.reason = self.reason or "stop"


FinishOnUsage = of_turn("FinishOnUsage", count=_usage_ends)


def _stops_at_reason(self, choice):
    yield from Chat.Turn.choice(self, choice)
    if self.reason:
        self.done = True


UsageLost = of_turn("UsageLost", choice=_stops_at_reason)


def _passes_on(self, choice):
    yield from self.content(choice.get("delta"))
    self.reason = choice.get("finish_reason") or self.reason


TextAfterFinishPassedOn = of_turn("TextAfterFinishPassedOn", choice=_passes_on)


def _finish_at_reason(self, choice):
    yield from Chat.Turn.choice(self, choice)
    if choice.get("finish_reason"):
        yield from Chat.Turn.end(self)


FinishAtEachReason = of_turn(
    "FinishAtEachReason",
    choice=_finish_at_reason,
    end=lambda self: () if self.reason else Chat.Turn.end(self),
)


def _either_or(self, choice):
    if choice.get("finish_reason"):
        self.reason = choice["finish_reason"]
    else:
        yield from Chat.Turn.choice(self, choice)


FinishOrContent = of_turn("FinishOrContent", choice=_either_or)

# calls


def _by_index(self, index, id_, name):
    index = index or 0
    if index not in self.by_index:
        self.by_index[index] = PartialCall(len(self.calls))
        self.calls.append(self.by_index[index])
    return self.by_index[index]


IndexIsIdentity = of_turn("IndexIsIdentity", call=_by_index)


def _first_entry(self, delta):
    if isinstance(delta, dict) and delta.get("tool_calls"):
        delta = {**delta, "tool_calls": delta["tool_calls"][:1]}
    return Chat.Turn.content(self, delta)


FirstEntryOnly = of_turn("FirstEntryOnly", content=_first_entry)


def _name_appended(self, call, id_, name, arguments):
    call.name, name = call.name + name, ""
    return call.add(id=id_, name=name, arguments=arguments)


def _with_name(self, call, reason):
    yield from Chat.Turn.finish_call(self, call, reason)
    from modeltest import ToolCallDelta

    yield ToolCallDelta(call.index, name=call.name)


NameAppended = of_turn("NameAppended", add=_name_appended, finish_call=_with_name)


def _must_have_arguments(self, call, reason):
    if not "".join(call.arguments):
        raise StreamProtocolError(f"no arguments for {call.name}")
    return Chat.Turn.finish_call(self, call, reason)


EmptyArgumentsRefused = of_turn("EmptyArgumentsRefused", finish_call=_must_have_arguments)


def _dropped_under_stop(self, data):
    for event in Chat.Turn.take(self, data):
        if isinstance(event, TextDelta):
            yield event
        else:
            self.held.append(event)


class CallsDroppedUnderStop(Chat):
    """Gives the calls only if the reason says so."""

    class Turn(Chat.Turn):
        def __init__(self):
            super().__init__()
            self.held = []

        take = _dropped_under_stop

        def end(self):
            *deltas, finish = Chat.Turn.end(self)
            if finish.reason == FinishReason.TOOL_USE:
                yield from self.held
                yield from deltas
            yield finish


def _defaulted(self, data):
    events = list(Chat.Turn.take(self, data))
    self.kept = [*getattr(self, "kept", []), *(e for e in events if not isinstance(e, TextDelta))]
    return [e for e in events if isinstance(e, TextDelta)]


def _defaulted_end(self):
    from modeltest import ToolCallDelta

    if not self.complete:
        raise IncompleteResponseError("cut")
    for call in self.calls:
        text = "".join(call.arguments)
        try:
            json.loads(text)
        except ValueError:
            text = "{}"
        yield ToolCallDelta(call.index, call.id, call.name, text)
    reason = self.neutral(self.reason)
    if reason == FinishReason.TOOL_USE and not self.calls:
        raise StreamProtocolError("a tool finish without a call")
    yield Finish(reason, self.reason, self.usage)


ArgumentsDefaulted = of_turn("ArgumentsDefaulted", take=_defaulted, end=_defaulted_end)


def _limited(self, call, id_, name, arguments):
    room = 65536 - sum(map(len, call.arguments))
    return call.add(id=id_, name=name, arguments=arguments[: max(0, room)])


ArgumentsLimited = of_turn("ArgumentsLimited", add=_limited)

# framing, and the ends of lines


class Lines(Chat):
    """The usual hand-written reader over lines; correct but for what subclasses say."""

    def payloads(self, response):
        data = []
        for line in self.lines(response):
            if line:
                if (value := self.value(line)) is not None:
                    data.append(value)
            elif data:
                yield self.joined(data)
                data = []

    def lines(self, response):
        buffer, after_cr = b"", False
        for chunk in self.chunks(response):
            piece = chunk.removeprefix(b"\n") if after_cr else chunk
            after_cr = chunk.endswith(b"\r")
            *lines, buffer = (
                (buffer + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            )
            yield from map(self.text, lines)

    def text(self, line):
        return line.decode("utf-8", "replace").removeprefix("\ufeff")

    def value(self, line):
        name, _, value = line.partition(":")
        return value.removeprefix(" ") if name == "data" else None

    def joined(self, data):
        return "\n".join(data)


class SpaceRequired(Lines):
    def value(self, line):
        return line.removeprefix("data: ") if line.startswith("data: ") else None


class TearsLineEnds(Lines):
    """Takes the LF of a CR LF that was torn for a blank line."""

    def lines(self, response):
        buffer = b""
        for chunk in self.chunks(response):
            buffer += chunk
            *lines, buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            yield from map(self.text, lines)


class LastLineWins(Lines):
    def joined(self, data):
        return data[-1]


class CommentIsData(Lines):
    def value(self, line):
        return line.partition(":")[2].strip() if line.startswith((":", "data")) else None


class FieldRefused(Lines):
    def value(self, line):
        if not line.startswith(("data", ":")):
            raise StreamProtocolError(f"unexpected line {line!r}")
        return super().value(line)


class EveryBlankLineDispatches(Lines):
    def payloads(self, response):
        data = []
        for line in self.lines(response):
            if line:
                if (value := self.value(line)) is not None:
                    data.append(value)
            elif not data:
                raise StreamProtocolError("an empty event")
            else:
                yield self.joined(data)
                data = []


class SplitsAtSeparators(Lines):
    def lines(self, response):
        for line in super().lines(response):
            yield from line.splitlines() or [""]


class LineLimit(Lines):
    def text(self, line):
        return super().text(line[:65536])


class LatinWithoutCharset(Lines):
    def lines(self, response):
        self.encoding = response.encoding or "utf-8"
        yield from super().lines(response)

    def text(self, line):
        return line.decode(self.encoding, "replace").removeprefix("\ufeff")


class DecodesEachRead(Lines):
    def lines(self, response):
        buffer, after_cr = "", False
        for chunk in self.chunks(response):
            piece = chunk.removeprefix(b"\n") if after_cr else chunk
            after_cr = chunk.endswith(b"\r")
            buffer += piece.decode("utf-8", "replace")
            *lines, buffer = buffer.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            yield from (line.removeprefix("\ufeff") for line in lines)


class LineFeedOnly(Lines):
    def lines(self, response):
        buffer = b""
        for chunk in self.chunks(response):
            *lines, buffer = (buffer + chunk).split(b"\n")
            yield from (self.text(line.removesuffix(b"\r")) for line in lines)


class ByteOrderMarkKept(Lines):
    def text(self, line):
        return line.decode("utf-8", "replace")


class StrictUtf8(Lines):
    def text(self, line):
        return line.decode().removeprefix("\ufeff")


class Impatient(Lines):
    """Gives an event at its data line, so the last needs no blank line."""

    def payloads(self, response):
        for line in self.lines(response):
            if (value := self.value(line)) is not None:
                yield value


def _skips(self, data):
    try:
        return list(Chat.Turn.take(self, data))
    except StreamProtocolError:
        return []


BadJsonSkipped = of_turn("BadJsonSkipped", take=_skips)


def _needs_choices(self, chunk):
    return chunk["choices"] and [chunk["choices"][0]]


KeyErrorComesOut = of_turn("KeyErrorComesOut", choices=_needs_choices)


def _unknown_refused(self, delta):
    unknown = set(delta) - {"role", "content", "refusal", "tool_calls"}
    if unknown:
        raise StreamProtocolError(f"unknown delta {unknown}")
    return Chat.Turn.content(self, delta)


UnknownDeltaRefused = of_turn("UnknownDeltaRefused", content=_unknown_refused)


def _empty_refused(self, data):
    if not data.strip():
        raise StreamProtocolError("empty data")
    return Chat.Turn.take(self, data)


EmptyDataRefused = of_turn("EmptyDataRefused", take=_empty_refused)

# cuts


def _any_end(self):
    self.reason = self.reason or ("stop" if self.answered else "")
    return Chat.Turn.end(self)


CleanEndAccepted = of_turn("CleanEndAccepted", end=_any_end)


def _repaired(self):
    for call in self.calls:
        text = "".join(call.arguments)
        missing = "}" * (text.count("{") - text.count("}"))
        if missing:
            from modeltest import ToolCallDelta

            closing = ('"' if text.count('"') % 2 else "") + missing
            call.arguments.append(closing)
            yield ToolCallDelta(call.index, arguments=closing)
    yield from Chat.Turn.end(self)


ArgumentsRepaired = of_turn("ArgumentsRepaired", end=_repaired)

# errors in mid-stream, state, and what is left of a response


class ErrorIgnored(Chat):
    class Turn(Chat.Turn):
        def parse(self, data):
            chunk = super().parse(data)
            return {name: value for name, value in chunk.items() if name != "error"}


class ErrorWithoutWords(Chat):
    class Turn(Chat.Turn):
        def take(self, data):
            try:
                yield from super().take(data)
            except ModelError:
                raise ModelError("the provider failed") from None


class UsageStays(Chat):
    """The last turn's counts stand until others come."""

    usage = Usage()

    def stream(self, request):
        for event in super().stream(request):
            if isinstance(event, Finish):
                self.usage = event.usage if event.usage != Usage() else self.usage
                yield Finish(event.reason, event.raw, self.usage)
            else:
                yield event


class CallsOnTheModel(Chat):
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


class EditsToolsAfterAnAnswer(Chat):
    """Once a turn is over, its tools are made ready for the next one."""

    def stream(self, request):
        yield from super().stream(request)
        for tool in request.tools:
            tool.parameters.setdefault("additionalProperties", False)


class RepeatsUntilAText(Chat):
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


class OneId(Chat):
    """Every call has the id of the first."""

    def stream(self, request):
        first = ""
        for event in super().stream(request):
            if isinstance(event, ToolCallDelta) and event.id:
                first = first or event.id
                yield replace(event, id=first)
            else:
                yield event


class OpenAfterAnErrorEvent(Chat):
    """Closes the response on every way out that its author thought of."""

    def stream(self, request):
        turn = self.Turn()
        response = self.session.post(self.url, data=self.body(request), stream=True)
        try:
            for data in self.payloads(response):
                yield from turn.take(data)
                if turn.done:
                    break
            yield from turn.end()
        except (GeneratorExit, IncompleteResponseError):
            response.close()
            raise
        response.close()


class WaitsForTheEndOfTheBody(Chat):
    class Turn(Chat.Turn):
        @property
        def done(self):
            return False

        @done.setter
        def done(self, value):
            self.marked = value

        @property
        def complete(self):
            return bool(self.reason) or (getattr(self, "marked", False) and self.answered)


class LeavesTheLastChunk(Chat):
    """Stops at the marker, and keeps the response until the next turn."""

    def stream(self, request):
        turn = self.Turn()
        self.response = self.session.post(self.url, data=self.body(request), stream=True)
        for data in self.payloads(self.response):
            yield from turn.take(data)
            if turn.done:
                break
        yield from turn.end()


class DropsBlank(Chat):
    """Takes a delta of white space for none."""

    def stream(self, request):
        for event in super().stream(request):
            if not isinstance(event, TextDelta) or event.text.strip():
                yield event


class DropsRepeats(Chat):
    """Takes a delta that equals the one before for the same, sent twice."""

    def stream(self, request):
        last = None
        for event in super().stream(request):
            if event != last:
                yield event
            last = event


class LosesSignatures:
    """The Anthropic example, but for the proof of its reasoning."""

    def __init__(self, base_url, pool):
        self.model = AnthropicMessagesModel(base_url, api_key="key", pool=pool)

    def stream(self, request):
        for event in self.model.stream(request):
            yield replace(event, signature="") if isinstance(event, ReasoningDelta) else event


class FinishAfterAnError(Chat):
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


class TurnByThread(Chat):
    """What is known of a turn is kept for the thread that reads it."""

    here = threading.local()

    def stream(self, request):
        self.here.turn = self.Turn()
        with self.session.post(self.url, data=self.body(request), stream=True) as response:
            for data in self.payloads(response):
                yield from self.here.turn.take(data)
                if self.here.turn.done:
                    break
        yield from self.here.turn.end()
