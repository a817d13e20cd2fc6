"""In memory: a check on a stream parser, which is given bytes and has no server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.assertions import refused_by_assemble
from modeltest.corpus import (
    malformed_bodies,
    short_bodies,
    whole_bodies,
    with_broken_json,
    with_event,
    with_text,
)
from modeltest.delivery.runner import judge
from modeltest.delivery.watch import watched
from modeltest.encoding import Framing, Unsupported
from modeltest.harness import CheckContext, Failure, Skip, Status
from modeltest.interface import Finish, FinishReason, TextDelta

if TYPE_CHECKING:
    from modeltest.delivery.parser import Parser, Reading
    from modeltest.encoding import Body, WireFormat
    from modeltest.harness import Answer, Check, ErrorTypes, Level, Outcome, Transcript


class ParserContext(CheckContext):
    """What a check function is given where there is a stream parser.

    Attributes:
        parser: the stream parser under test.
        recorded: the author's bodies.
        deadline: seconds that the parser may take for one body.
    """

    skips = (Skip, Unsupported)

    def __init__(
        self,
        check: Check,
        parser: Parser,
        wire: WireFormat | None,
        recorded: Sequence[Body],
        deadline: float,
    ) -> None:
        super().__init__(check)
        self.parser = parser
        self.recorded = tuple(recorded)
        self.deadline = deadline
        self._wire = wire

    # What there is to deliver

    @property
    def model_error(self) -> ErrorTypes:
        """The exception type, or types, by which a turn may fail."""
        return self.parser.model_error

    @property
    def package(self) -> str:
        """The top-level package that the parser comes from."""
        return self.parser.package

    @property
    def wire(self) -> WireFormat | None:
        """The provider's wire format, or None."""
        return self._wire

    @property
    def framing(self) -> Framing:
        """How events are separated."""
        return Framing.SSE if self._wire is None else self._wire.framing

    def plain_bodies(self) -> Sequence[Body]:
        """Return the author's bodies, and the wire's whole turns."""
        return self.recorded if self._wire is None else (*self.recorded, *whole_bodies(self._wire))

    def short_bodies(self) -> Sequence[Body]:
        """Return the author's bodies, and the wire's short turns."""
        return self.recorded if self._wire is None else (*self.recorded, *short_bodies(self._wire))

    def bodies_with_text(self, text: str) -> Iterator[Body]:
        """Yield the wire's body with this text, and the author's with their first text replaced."""
        if self._wire is not None:
            yield self._wire.encode(TextDelta(text), Finish(FinishReason.STOP))
        for body in self.recorded:
            deltas = (e.text for e in self.plain(body).events if isinstance(e, TextDelta))
            chunks = with_text(body.chunks, next(deltas, ""), text, body.name)
            number = next(n for n, chunk in enumerate(chunks) if chunk != body.chunks[n])
            yield with_event(body, number, chunks[number])

    def bodies_from_text_on(self) -> Iterator[Body]:
        """Yield each body without what comes before its first event that tells something."""
        for body in self.plain_bodies():
            if self._plain_or_none(body) is not None:
                telling = body.parts[self._first_telling(body) :]
                yield body.renewed(f"{body.name}, without its start", telling)

    def malformed_bodies(self) -> Iterator[Body]:
        """Yield the wire's malformed bodies, and the author's with broken JSON."""
        if self._wire is not None:
            yield from malformed_bodies(self._wire)
        for body in self.recorded:
            self.plain(body)
            number = self._first_telling(body)
            broken = with_broken_json(body.chunks[number])
            yield with_event(body, number, broken, f"{body.name}, broken JSON")

    # How it is delivered

    def deliver(
        self,
        body: Body,
        expect: Callable[[Answer], object],
        name: str | None = None,
        *,
        cuts: Sequence[int] | None = None,
        ending: str = "",
        content_type: str | None = None,
        paced: bool = False,
        level: Level | None = None,
    ) -> None:
        """Let the parser read a body, and judge what came; see `CheckContext.deliver`."""
        del ending, content_type, paced  # there is no connection
        with self.judging(body.name if name is None else name, level):
            expect(self.answer_to(body, self.parser.read(body.data, cuts=cuts)))

    @contextmanager
    def reading(self, body: Body) -> Iterator[Callable[[bytes], Transcript]]:
        """Give a function that lets the parser read any bytes; see `CheckContext.reading`."""
        with self.judging(body.name):
            yield self.parser.read

    def read_apart(self, body: Body) -> Reading:
        """Return what the parser makes of an answer as it stands.

        Raises:
            Skip: it is not even read so, which is judged elsewhere.
        """
        reading = self._plain_or_none(body)
        if reading is None:
            raise Skip(f"{body.name} is not even read as it stands: another test says so")
        return reading

    def _plain_or_none(self, body: Body) -> Reading | None:
        try:
            reading = self.parser.read(body.data)
        except Failure:
            return None
        refused = reading.error is not None or refused_by_assemble(reading.events) is not None
        return None if refused else reading

    def _first_telling(self, body: Body) -> int:
        """Return the number of the first event of `body` for which the parser gives an event.

        One that gives nothing, such as a first one that only names the role, is not missed.
        """
        for number, end in enumerate(body.boundaries):
            try:
                if self.parser.read(body.data[:end]).events:
                    return number
            except Failure:
                pass  # what becomes of a cut body is judged elsewhere
        return len(body.parts) - 1


def run_in_memory(context: ParserContext) -> Outcome:
    """Run a check on a stream parser, in memory."""
    judge(context, lambda: watched(context.run, context.parser, context.deadline))
    outcome = context.outcome()
    if outcome.status is Status.SKIPPED and not outcome.text:
        return replace(outcome, text="the bodies leave nothing to try")
    return outcome
