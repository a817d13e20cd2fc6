"""Broken readers of OpenAI Chat Completions, each with one fault that published ones have.

`Small` is correct; each mutant overrides the one step in which it is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from modeltest import (
    Event,
    Finish,
    FinishReason,
    ModelError,
    TextDelta,
    ToolCallDelta,
    TruncatedToolArgumentsError,
    Usage,
)
from modeltest.delivery import as_lines
from tests.adapters.openai_chat_turn import ChatTurn
from tests.adapters.sse import ServerSentEvent

Fields = Iterable[tuple[str, str]]


class Small:
    """body → lines → fields → events → the turn."""

    def __call__(self, body: BinaryIO) -> Any:
        return self.read(body)

    def read(self, body: BinaryIO) -> Iterator[Event]:
        turn = self.new_turn()
        for event in self.events(self.lines(body)):
            yield from self.take(turn, event)
            if turn.over:
                break
        yield from self.end(turn)

    def new_turn(self) -> ChatTurn:
        return ChatTurn()

    def lines(self, body: BinaryIO) -> Iterable[str]:
        for number, line in enumerate(as_lines(body)):
            text = line.decode("utf-8", "replace")
            yield text if number else text.removeprefix("\ufeff")

    def events(self, lines: Iterable[str]) -> Iterator[ServerSentEvent]:
        data: list[str] = []
        for line in lines:
            name, value = self.field(line)
            if name == "data":
                data.append(value)
            elif not line and data:
                yield ServerSentEvent("message", "\n".join(data))
                data = []
        yield from self.rest(data)

    def field(self, line: str) -> tuple[str, str]:
        name, _, value = line.partition(":")
        return name, value.removeprefix(" ")

    def rest(self, data: list[str]) -> Iterator[ServerSentEvent]:
        """What an event without its blank line gives: nothing."""
        yield from ()

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        return turn.take(event)

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        return turn.finish()


# Lines


class SplitsAtUnicodeLines(Small):
    """iter_lines(decode_unicode=True), which is str.splitlines."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        text = body.read().decode("utf-8", "replace").removeprefix("\ufeff")
        return text.splitlines()


class DecodesEachRead(Small):
    """A character that lies across two reads becomes two that are none."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        pieces = iter(lambda: body.read(4096), b"")
        text = "".join(piece.decode("utf-8", "replace") for piece in pieces)
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        yield from text.split("\n")


class SplitsEachRead(Small):
    """The CR of one read ends a line, the LF of the next an empty one."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        line = b""
        first = True
        while piece := body.read(4096):
            *ends, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            for end in ends:
                yield (line + end).decode("utf-8", "replace").removeprefix("\ufeff" * first)
                line, first = b"", False
            line += rest


class CapsLines(Small):
    """Reads at most 64 kB of a line, and takes the rest for the next one."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        for line in super().lines(body):
            for at in range(0, max(1, len(line)), 65_536):
                yield line[at : at + 65_536]


# Fields


class NeedsTheSpace(Small):
    """startswith("data: ")"""

    def field(self, line: str) -> tuple[str, str]:
        return super().field(line) if line.startswith("data: ") else ("", "")


class ChokesOnComments(Small):
    """Every line has a name."""

    def field(self, line: str) -> tuple[str, str]:
        if line.startswith(":"):
            raise ModelError("a line without a name")
        return super().field(line)


class TakesTheLastData(Small):
    """Data over several lines is only the last of them."""

    def events(self, lines: Iterable[str]) -> Iterator[ServerSentEvent]:
        for event in super().events(lines):
            yield replace(event, data=event.data.rpartition("\n")[2])


class ChokesOnBlankLines(Small):
    """An empty line ends an event; where none began, something is wrong."""

    def events(self, lines: Iterable[str]) -> Iterator[ServerSentEvent]:
        def checked() -> Iterator[str]:
            before = ""
            for line in lines:
                if not line and not before:
                    raise ModelError("an empty event")
                before = line
                yield line

        return super().events(checked())


class ChokesOnFields(Small):
    """Every field has a meaning."""

    def field(self, line: str) -> tuple[str, str]:
        name, value = super().field(line)
        if name not in ("", "data", "event"):
            raise ModelError(f"a field that nobody knows: {name}")
        return name, value


class KeepsTheByteOrderMark(Small):
    """Nobody sends one."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        return (line.decode("utf-8", "replace") for line in as_lines(body))


# Events


class ChokesOnEmptyData(Small):
    """An event with empty data is no JSON."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        if not event.data:
            raise ModelError("an event without data")
        return turn.take(event)


class SkipsBrokenJSON(Small):
    """except json.JSONDecodeError: continue"""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        try:
            json.loads(event.data)
        except (json.JSONDecodeError, RecursionError):
            if event.data != "[DONE]":
                return
        yield from turn.take(event)


class EndsAtAWholeLine(Small):
    """A body that ends with a line of whole JSON has ended well."""

    ended = False

    def rest(self, data: list[str]) -> Iterator[ServerSentEvent]:
        try:
            self.ended = bool(data) and isinstance(json.loads("\n".join(data)), dict)
        except ValueError:
            self.ended = False
        if self.ended:
            yield ServerSentEvent("message", "\n".join(data))

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if self.ended and not turn.complete:
            self.ended = False
            yield Finish(FinishReason.STOP, "stop")
        else:
            yield from turn.finish()


class FinishesAtAPendingEvent(Small):
    """The last event needs no blank line, and nothing comes after the last: a finish."""

    pending = False

    def rest(self, data: list[str]) -> Iterator[ServerSentEvent]:
        self.pending = bool(data)
        yield from ()

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        pending, self.pending = self.pending, False
        if pending and not turn.complete:
            return iter([Finish(FinishReason.STOP, "stop")])
        return turn.finish()


class FinishesOnUsage(Small):
    """Usage comes last, does it not?"""

    def read(self, body: BinaryIO) -> Iterator[Event]:
        turn = self.new_turn()
        for event in self.events(self.lines(body)):
            yield from turn.take(event)
            if turn.over:
                break
            if '"usage":{' in event.data:
                if turn.complete:
                    break
                yield Finish(FinishReason.STOP, "stop", usage=turn._usage)
                return
        yield from turn.finish()


class IgnoresErrors(Small):
    """Only chunks with choices are read."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        return iter(()) if '"error":' in event.data else turn.take(event)


class HidesErrors(Small):
    """Something went wrong."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        if '"error":' in event.data:
            raise ModelError("something went wrong")
        return turn.take(event)


class NeedsTheMarker(Small):
    """A turn without [DONE] is cut."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if not turn.over:
            raise ModelError("no [DONE]")
        return turn.finish()


class TakesTheEnd(Small):
    """The body has ended, so has the turn."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if turn.complete or not turn._answered:
            return turn.finish()
        return iter([Finish(FinishReason.STOP, "stop")])


# The turn


class LosesUsage(Small):
    """Reading stops at the reason."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        turn._usage = Usage()
        return turn.finish()


class LengthIsStop(Small):
    """Half an answer is one, too."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        for event in turn.finish():
            cut = isinstance(event, Finish) and event.reason == FinishReason.LENGTH
            yield replace(event, reason=FinishReason.STOP) if cut else event


class LosesTheWord(Small):
    """The neutral reason says it all."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        for event in turn.finish():
            known = isinstance(event, Finish) and event.reason in set(FinishReason)
            yield replace(event, raw="") if known else event


class RenamesCalls(Small):
    """Ids of its own are as good."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        for delta in turn.take(event):
            call = isinstance(delta, ToolCallDelta) and delta.id
            yield replace(delta, id="mine") if call else delta


class LosesLongTexts(Small):
    """What does not fit is left out."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        return turn.take(event) if len(event.data) < 70_000 else iter(())


class UnknownIsStop(Small):
    """A word that is not known means nothing in particular."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        for event in turn.finish():
            unknown = isinstance(event, Finish) and event.reason not in set(FinishReason)
            yield replace(event, reason=FinishReason.STOP) if unknown else event


class Rewrites(Small):
    """Reads each chunk as if it said something else."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        try:
            chunk = json.loads(event.data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict) or not isinstance(chunk.get("choices"), list):
            return turn.take(event)
        for choice in chunk["choices"]:
            if isinstance(choice, dict) and isinstance(choice.get("delta"), dict):
                self.rewrite(turn, choice, choice["delta"])
        return turn.take(replace(event, data=json.dumps(chunk)))

    def rewrite(self, turn: ChatTurn, choice: dict[str, Any], delta: dict[str, Any]) -> None:
        for call in delta.get("tool_calls") or ():
            if isinstance(call, dict) and isinstance(call.get("function"), dict):
                self.rewrite_call(turn, call, call["function"])

    def rewrite_call(
        self, turn: ChatTurn, call: dict[str, Any], function: dict[str, Any]
    ) -> None: ...


class NeedsAReason(Small):
    """[DONE] without a reason is none."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if not turn._reason:
            raise ModelError("no finish_reason")
        return turn.finish()


class IgnoresWhatFollows(Rewrites):
    """What comes after the reason does not matter."""

    def rewrite(self, turn: ChatTurn, choice: dict[str, Any], delta: dict[str, Any]) -> None:
        if turn._reason:
            delta.clear()


class ChokesOnRepeats(Rewrites):
    """A second reason contradicts the first, even if it is the same."""

    def rewrite(self, turn: ChatTurn, choice: dict[str, Any], delta: dict[str, Any]) -> None:
        if turn._reason and choice.get("finish_reason"):
            raise ModelError("two reasons")


class FinishesBeforeItsContent(Rewrites):
    """if finish_reason: … elif content: …"""

    def rewrite(self, turn: ChatTurn, choice: dict[str, Any], delta: dict[str, Any]) -> None:
        if choice.get("finish_reason"):
            delta.pop("content", None)


class TakesTheFirstCall(Rewrites):
    """delta.tool_calls[0]"""

    def rewrite(self, turn: ChatTurn, choice: dict[str, Any], delta: dict[str, Any]) -> None:
        if isinstance(delta.get("tool_calls"), list):
            del delta["tool_calls"][1:]


class TrustsTheIndex(Rewrites):
    """One index, one call."""

    def rewrite_call(self, turn: ChatTurn, call: dict[str, Any], function: dict[str, Any]) -> None:
        call["index"] = call.get("index") or 0
        if call["index"] in turn._calls_by_index:
            call["id"] = ""
            function["name"] = ""


class ChokesOnRepeatedNames(Rewrites):
    """Only the first fragment of a call has its name."""

    def rewrite_call(self, turn: ChatTurn, call: dict[str, Any], function: dict[str, Any]) -> None:
        same = [known for known in turn._calls if known.name and known.name == function.get("name")]
        if same and call.get("id") in (None, "", same[-1].id):
            raise ModelError("the name came twice")


class NeedsArguments(Small):
    """A call without arguments is cut."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if turn.complete and any(not "".join(call.arguments) for call in turn._calls):
            raise ModelError("no arguments")
        return turn.finish()


class DropsCallsUnderStop(Small):
    """Calls count only where the reason says so."""

    def read(self, body: BinaryIO) -> Iterator[Event]:
        events = list(super().read(body))
        finish = events[-1]
        stop = isinstance(finish, Finish) and finish.reason == FinishReason.STOP
        return iter([e for e in events if not (stop and isinstance(e, ToolCallDelta))])


class RepairsArguments(Small):
    """What is missing at the end is put there."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        for call in turn._calls if turn.complete else ():
            for missing in ("}", '"}', '"":0}'):
                try:
                    json.loads("".join(call.arguments) + missing)
                except ValueError:
                    continue
                call.arguments.append(missing)
                yield ToolCallDelta(call.index, arguments=missing)
                break
        yield from turn.finish()


class NamesNoTool(Small):
    """Some arguments are broken."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        try:
            yield from turn.finish()
        except TruncatedToolArgumentsError:
            raise TruncatedToolArgumentsError("some arguments are no JSON object") from None


class LimitsCalls(Small):
    """400,000 characters of arguments are too much."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if sum(len(piece) for call in turn._calls for piece in call.arguments) > 400_000:
            raise ModelError("too much")
        return turn.finish()


class ChokesOnTheUnknown(Small):
    """A field that is not known is a mistake."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Event]:
        if "modeltest_unknown" in event.data and '"finish_reason":"modeltest' not in event.data:
            raise ModelError("an unknown field")
        return turn.take(event)


class DecodesStrictly(Small):
    """A byte that is no UTF-8 cannot come."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        return (line.decode("utf-8-sig") for line in as_lines(body))


# The rules of a single reading


class GivesNone(Small):
    """A `return` is missing."""

    def __call__(self, body: BinaryIO) -> Any:
        self.read(body)


class IsAsynchronous(Small):
    """It is for another loop."""

    async def __call__(self, body: BinaryIO) -> Any:
        return self.read(body)


class GivesDicts(Small):
    """The chunks as they are."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Any]:
        for delta in turn.take(event):
            yield {"delta": delta}


class GivesNoText(Small):
    """A null is passed on as a text."""

    def take(self, turn: ChatTurn, event: ServerSentEvent) -> Iterator[Any]:
        yield TextDelta(None)  # type: ignore[arg-type]


class FinishesTwice(Small):
    """At the reason, and at the marker."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        *deltas, finish = turn.finish()
        return iter([*deltas, finish, finish])


class RaisesAfterItsFinish(Small):
    """The rest of the body is read, and is not understood."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        yield from turn.finish()
        raise ModelError("more came")


class CountsBackwards(Small):
    """Cached tokens are taken out of an input that did not hold them."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        for event in turn.finish():
            yield replace(event, usage=Usage(-1)) if isinstance(event, Finish) else event


class RaisesKeyErrors(Small):
    """Half a chunk has not all its keys."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if not turn.complete:
            raise KeyError("finish_reason")
        return turn.finish()


class Iterated:
    """An iterator over a correct reader, which the mutants below spoil."""

    def __init__(self, body: BinaryIO) -> None:
        self.events = Small().read(body)
        self.error: Exception | None = None
        self.ended = False

    def __iter__(self) -> Iterator[Event]:
        return self  # type: ignore[return-value]

    def __next__(self) -> Event:
        try:
            return next(self.events)
        except StopIteration:
            return self.end()
        except Exception as error:
            self.error = error
            raise

    def end(self) -> Event:
        raise StopIteration


class GoesOnAfterItsError(Iterated):
    """The event that could not be read was only one."""

    def end(self) -> Event:
        if self.error is not None:
            return TextDelta("more")
        raise StopIteration


class GoesOnAfterItsEnd(Iterated):
    """Whoever asks again is given something."""

    def end(self) -> Event:
        if self.ended:
            return TextDelta("more")
        self.ended = True
        raise StopIteration


class RaisesAfterItsEnd(Iterated):
    """The file is closed by then."""

    def end(self) -> Event:
        if self.ended:
            raise ValueError("I/O operation on closed file.")
        self.ended = True
        raise StopIteration


class ReadsForEver(Small):
    """An empty line is skipped, and so is the end."""

    def lines(self, body: BinaryIO) -> Iterable[str]:
        while True:
            line = body.readline()
            yield line.decode("utf-8", "replace").rstrip("\r\n")


class GivesForEver(Small):
    """A keep-alive of its own, without an end."""

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        if turn.complete:
            yield from turn.finish()
            return
        while True:
            yield TextDelta("")


class SpinsForEver(Small):
    """Waits for an end of turn without reading on, until a test lets it go."""

    waits = True

    def end(self, turn: ChatTurn) -> Iterator[Event]:
        while self.waits and not turn.complete:
            pass
        yield from turn.finish()
