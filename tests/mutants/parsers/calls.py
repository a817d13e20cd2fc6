"""Tool calls that are read wrongly: what calls/* catches."""

import json
from dataclasses import replace

from modeltest import (
    Finish,
    FinishReason,
    ModelError,
    StreamProtocolError,
    TextDelta,
    ToolCallDelta,
    TruncatedToolArgumentsError,
)
from tests.adapters.tool_call import PartialCall

from .correct import ChatParser, ChatTurn
from .table import fails


@fails(
    "calls/index",
    says="- the same index for two calls: a whole answer raised TruncatedToolArgumentsError",
)
class TrustsTheIndex(ChatParser):
    """One index, one call."""

    class Turn(ChatTurn):
        def call(self, index, id_, name):
            index = index or 0
            if index not in self.by_index:
                self.by_index[index] = PartialCall(len(self.calls))
                self.calls.append(self.by_index[index])
            return self.by_index[index]

        def add(self, call, id_, name, arguments):
            return super().add(call, id_, name if not call.name else "", arguments)


@fails(
    "calls/parallel", says="two tool calls in one event: a whole answer raised StreamProtocolError"
)
class TakesTheFirstCall(ChatParser):
    """delta.tool_calls[0]"""

    class Turn(ChatTurn):
        def content(self, delta):
            if isinstance(delta, dict) and isinstance(delta.get("tool_calls"), list):
                delta = {**delta, "tool_calls": delta["tool_calls"][:1]}
            return super().content(delta)


@fails(
    "calls/parallel",
    may=("calls/index",),
    says=r"expected the calls' ids \['call_\w+0', 'call_\w+1'\], got \['call_\w+0'\]",
)
class HasOneId(ChatParser):
    """Every call has the id of the first."""

    def read(self, body):
        first = ""
        for event in super().read(body):
            if isinstance(event, ToolCallDelta) and event.id:
                first = first or event.id
                yield replace(event, id=first)
            else:
                yield event


@fails(
    "calls/identity",
    # Every call has another id than was sent.
    may=("calls/empty", "calls/parallel", "calls/index", "calls/large"),
    says=r"expected the calls' ids \['call_\w+'\], got \['mine'\]",
)
class RenamesCalls(ChatParser):
    """Ids of its own are as good."""

    def read(self, body):
        for event in super().read(body):
            call = isinstance(event, ToolCallDelta) and event.id
            yield replace(event, id="mine") if call else event


@fails(
    "calls/identity",
    says="the name repeated on later fragments: the answer's tool calls: not what was sent",
)
class AppendsNames(ChatParser):
    """call.name += delta.function.name"""

    class Turn(ChatTurn):
        def add(self, call, id_, name, arguments):
            call.name += name
            return call.add(id=id_, arguments=arguments)

        def finish_call(self, call, reason):
            yield from super().finish_call(call, reason)
            yield ToolCallDelta(call.index, name=call.name)


@fails("calls/identity")
class ChokesOnRepeatedNames(ChatParser):
    """Only the first fragment of a call has its name."""

    class Turn(ChatTurn):
        def add(self, call, id_, name, arguments):
            if call.name and name:
                raise ModelError("the name came twice")
            return super().add(call, id_, name, arguments)


@fails("calls/empty", says="- arguments null: a whole answer raised StreamProtocolError")
class NeedsArguments(ChatParser):
    """A call without arguments is cut."""

    class Turn(ChatTurn):
        def finish_call(self, call, reason):
            if not "".join(call.arguments):
                raise StreamProtocolError(f"no arguments for {call.name}")
            return super().finish_call(call, reason)


@fails(
    "calls/reason",
    says="a tool call under an ordinary stop: the answer's tool calls: not what was sent",
)
class DropsCallsUnderStop(ChatParser):
    """Calls count only where the reason says so."""

    def read(self, body):
        held = []
        for event in super().read(body):
            if isinstance(event, ToolCallDelta):
                held.append(event)
                continue
            if isinstance(event, Finish) and event.reason == FinishReason.TOOL_USE:
                yield from held
            yield event


@fails(
    "calls/invalid",
    may=("truncation/arguments",),
    says="- arguments no json: invalid arguments were taken for a call",
)
class DefaultsArguments(ChatParser):
    """except ValueError: arguments = {}"""

    class Turn(ChatTurn):
        def take(self, data):
            return (e for e in list(super().take(data)) if isinstance(e, TextDelta))

        def finish_call(self, call, reason):
            text = "".join(call.arguments)
            try:
                json.loads(text)
            except ValueError:
                text = "{}"
            return [ToolCallDelta(call.index, call.id, call.name, text)]


@fails("calls/invalid")
class NamesNoTool(ChatParser):
    """Some arguments are broken."""

    class Turn(ChatTurn):
        def end(self):
            try:
                yield from super().end()
            except TruncatedToolArgumentsError:
                raise TruncatedToolArgumentsError("some arguments are no JSON object") from None


@fails(
    "calls/large", says="1200000 bytes of arguments: a whole answer raised TruncatedToolArguments"
)
class CutsArguments(ChatParser):
    """What does not fit is left out."""

    class Turn(ChatTurn):
        def add(self, call, id_, name, arguments):
            room = 65536 - sum(map(len, call.arguments))
            return super().add(call, id_, name, arguments[: max(0, room)])


@fails("calls/large")
class LimitsCalls(ChatParser):
    """400,000 characters of arguments are too much."""

    class Turn(ChatTurn):
        def end(self):
            if sum(len(piece) for call in self.calls for piece in call.arguments) > 400_000:
                raise ModelError("too much")
            return super().end()
