"""Parsers that break a rule of every single reading: what reader/turn and framing/any-bytes catch.

They yield what is no event, or go on after their end: in memory, where the iterator itself is
looked at, these are rules of `read_sse`.
"""

from dataclasses import replace

from modeltest import Finish, ModelError, TextDelta, Usage

from .correct import ChatParser, ChatTurn
from .table import fails

CUT = ("truncation/boundaries", "truncation/prefix", "truncation/arguments", "finish/usage")
FAILING = (*CUT, "framing/any-bytes")
"""The checks that hand over bodies which are no answers."""


class GivesNone(ChatParser):
    """A `return` is missing."""

    def __call__(self, body):
        self.read(body)


class IsAsynchronous(ChatParser):
    """It is for another loop."""

    async def __call__(self, body):
        return self.read(body)


@fails("reader/turn", in_memory_only=True)
class GivesDicts(ChatParser):
    """The chunks as they are."""

    class Turn(ChatTurn):
        def take(self, data):
            for delta in super().take(data):
                yield {"delta": delta}


@fails("reader/turn", in_memory_only=True)
class GivesNoText(ChatParser):
    """A null is passed on as a text."""

    class Turn(ChatTurn):
        def take(self, data):
            yield TextDelta(None)


@fails("reader/turn", in_memory_only=True)
class RaisesAfterItsFinish(ChatParser):
    """The rest of the body is read, and is not understood."""

    class Turn(ChatTurn):
        def end(self):
            yield from super().end()
            raise ModelError("more came")


@fails("reader/turn", in_memory_only=True)
class CountsBackwards(ChatParser):
    """Cached tokens are taken out of an input that did not hold them."""

    class Turn(ChatTurn):
        def end(self):
            for event in super().end():
                yield replace(event, usage=Usage(-1)) if isinstance(event, Finish) else event


@fails(*FAILING, in_memory_only=True)
class RaisesKeyErrors(ChatParser):
    """Half a chunk has not all its keys."""

    class Turn(ChatTurn):
        def end(self):
            if not self.complete:
                raise KeyError("finish_reason")
            return super().end()


class Iterated:
    """An iterator over a correct parser, which the mutants below spoil."""

    def __init__(self, body):
        self.events = ChatParser().read(body)
        self.error = None
        self.ended = False

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self.events)
        except StopIteration:
            return self.end()
        except Exception as error:
            self.error = error
            raise

    def end(self):
        raise StopIteration

    def close(self):
        self.events.close()


@fails(
    *FAILING,
    "framing/malformed",
    "calls/reason",
    "finish/after",
    "faults/error-event",
    "calls/invalid",
    in_memory_only=True,
)
class GoesOnAfterItsError(Iterated):
    """The event that could not be read was only one."""

    def end(self):
        if self.error is not None:
            return TextDelta("more")
        raise StopIteration


@fails("reader/turn", in_memory_only=True)
class GoesOnAfterItsEnd(Iterated):
    """Whoever asks again is given something."""

    def end(self):
        if self.ended:
            return TextDelta("more")
        self.ended = True
        raise StopIteration


@fails("reader/turn", in_memory_only=True)
class RaisesAfterItsEnd(Iterated):
    """The file is closed by then."""

    def end(self):
        if self.ended:
            raise ValueError("I/O operation on closed file.")
        self.ended = True
        raise StopIteration


@fails(*FAILING, "truncation/good-endings", "framing/line-ends", in_memory_only=True)
class ReadsForEver(ChatParser):
    """An empty line is skipped, and so is the end."""

    def byte_lines(self, body):
        while True:
            yield body.readline().rstrip(b"\r\n")


@fails(*FAILING, in_memory_only=True)
class GivesForEver(ChatParser):
    """A keep-alive of its own, without an end."""

    class Turn(ChatTurn):
        def end(self):
            if self.complete:
                yield from super().end()
                return
            while True:
                yield TextDelta("")


class SpinsForEver(ChatParser):
    """Waits for an end of turn without reading on, until a test lets it go."""

    waits = True

    def read(self, body):
        outer = self

        class Waiting(ChatTurn):
            def end(self):
                while outer.waits and not self.complete:
                    pass
                return super().end()

        self.Turn = Waiting
        return super().read(body)
