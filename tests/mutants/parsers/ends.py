"""Half an answer that counts as one, and errors that are not told: truncation/*, error events."""

import json

from modeltest import Finish, FinishReason, ModelError, ToolCallDelta

from .correct import ChatParser, ChatTurn
from .table import fails

WHOLE = "the body has ended"
"""Stands behind the last payload."""


@fails(
    "truncation/boundaries",
    "truncation/prefix",
    "truncation/arguments",
    "finish/usage",
    says="- a short text, after 1 event.*: .* was taken for a finished answer",
)
class TakesTheEnd(ChatParser):
    """The body has ended, so has the turn."""

    class Turn(ChatTurn):
        def end(self):
            self.reason = self.reason or ("stop" if self.answered else "")
            return super().end()


@fails("truncation/prefix")
class EndsAtAWholeLine(ChatParser):
    """A body that ends with a line of whole JSON has ended well."""

    def rest(self, data):
        try:
            whole = bool(data) and isinstance(json.loads("\n".join(data)), dict)
        except ValueError:
            whole = False
        return ["\n".join(data), WHOLE] if whole else []

    class Turn(ChatTurn):
        cut = False

        def take(self, data):
            if data is WHOLE:
                self.cut = not self.complete
                return ()
            return super().take(data)

        def end(self):
            return [Finish(FinishReason.STOP, "stop")] if self.cut else super().end()


@fails("truncation/prefix")
class FinishesAtAPendingEvent(ChatParser):
    """The last event needs no blank line, and nothing comes after the last: a finish."""

    def rest(self, data):
        return [WHOLE] if data else []

    Turn = EndsAtAWholeLine.Turn


@fails("truncation/good-endings")
class NeedsTheMarker(ChatParser):
    """A turn without [DONE] is cut."""

    class Turn(ChatTurn):
        def end(self):
            if not self.done:
                raise ModelError("no [DONE]")
            return super().end()


@fails(
    "truncation/arguments",
    says="- arguments cut inside a string, a finish for tool use.*: a turn whose call was cut",
)
class RepairsArguments(ChatParser):
    """What is missing at the end is put there."""

    class Turn(ChatTurn):
        def end(self):
            for call in self.calls if self.complete else ():
                if closing := self.missing("".join(call.arguments)):
                    call.arguments.append(closing)
                    yield ToolCallDelta(call.index, arguments=closing)
            yield from super().end()

        def missing(self, text):
            for closing in ("}", '"}', '"":0}'):
                try:
                    json.loads(text + closing)
                except ValueError:
                    continue
                return closing
            return ""


@fails("faults/error-event", says=r"faults/error-event: \d of \d cases fail\.")
class IgnoresErrors(ChatParser):
    """Only chunks with choices are read."""

    class Turn(ChatTurn):
        def parse(self, data):
            chunk = super().parse(data)
            return {name: value for name, value in chunk.items() if name != "error"}


@fails("faults/error-event", says="expected an error that says what the provider said, 'server_err")
class HidesErrors(ChatParser):
    """Something went wrong."""

    class Turn(ChatTurn):
        def parse(self, data):
            chunk = super().parse(data)
            if chunk.get("error"):
                raise ModelError("something went wrong")
            return chunk
