"""One clause tried on a reader: the bodies it is tried with, and what was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from modeltest import corpus
from modeltest.assertions import bodies_or_skip
from modeltest.harness import Failure, Skip, report
from modeltest.reader.prefix import answer
from modeltest.reader.reading import Reader, Reading
from modeltest.wire import Body, Framing, Role, WireFormat, WirePart

_ONE_EVENT = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
_ONE_LINE = re.compile(rb".*\n|.+\Z")


class ReaderTrial:
    """What a clause is given.

    Attributes:
        reader: the reader under test.
        wire: how the provider spells a turn, or None.
        recorded: the author's bodies.
        deadline: seconds that the reader may take for one body.
        broken: the cases that failed, by name.
        tried: how many cases were tried.
        unjudged: why cases could not be judged, each reason once.
    """

    def __init__(
        self,
        reader: Reader,
        wire: WireFormat | None,
        recorded: Sequence[Body],
        deadline: float,
    ) -> None:
        self.reader = reader
        self.wire = wire
        self.recorded = tuple(recorded)
        self.deadline = deadline
        self.broken: list[tuple[str, Failure]] = []
        self.tried = 0
        self.unjudged: dict[str, None] = {}
        self._plain: dict[tuple[Body, int], Reading | None] = {}

    @property
    def answers(self) -> tuple[Body, ...]:
        """Whole answers: the author's bodies, and the wire's."""
        return (*self.recorded, *self._if_wire("whole_bodies"))

    @property
    def short_answers(self) -> tuple[Body, ...]:
        """Whole answers to be cut at every byte."""
        return (*self.recorded, *self._if_wire("short_bodies"))

    def _if_wire(self, method: str) -> tuple[Body, ...]:
        return () if self.wire is None else self.spelled(method)

    def spelled(self, bodies: str) -> tuple[Body, ...]:
        """Return the bodies that a function of the corpus gives for the wire.

        Raises:
            Skip: there is no wire, or it cannot spell them.
        """
        return self.asked(getattr(corpus, bodies))

    def asked(self, bodies: Callable[[WireFormat], Iterable[Body]]) -> tuple[Body, ...]:
        """Return the bodies that `bodies` asks the wire for.

        Raises:
            Skip: there is no wire, or it cannot spell them.
        """
        wire = self.wire
        if wire is None:
            raise Skip("needs `wire`: set it on the test case")
        return bodies_or_skip(lambda: bodies(wire))

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """Try one case: a `Failure` in the block is kept, and a `Skip` leaves it unjudged."""
        self.tried += 1
        try:
            yield
        except Skip as skip:
            self.tried -= 1
            self.leave_unjudged(str(skip))
        except Failure as failure:
            self.broken.append((name, failure))

    def leave_unjudged(self, reason: str) -> None:
        """Note that a case, or the whole clause, cannot judge this reader."""
        self.unjudged[reason] = None

    def read(self, body: Body, step: int = 0) -> Reading:
        """Let the reader read a body.

        Raises:
            Failure: it breaks a rule.
        """
        return self.reader.read(body.data, step=step)

    def plain(self, body: Body, step: int = 0) -> Reading:
        """Return the reading of an answer as it stands, to be compared with other spellings.

        Raises:
            Skip: it is not even read so, which is judged elsewhere.
        """
        reading = self._plain_or_none(body, step)
        if reading is None:
            raise Skip(f"{body.name} is not even read as it stands: another test says so")
        return reading

    def is_read(self, body: Body) -> bool:
        """Tell whether the reader makes an answer of an answer."""
        return self._plain_or_none(body, 0) is not None

    def _plain_or_none(self, body: Body, step: int) -> Reading | None:
        if (body, step) not in self._plain:
            self._plain[body, step] = self._read_plain(body, step)
        return self._plain[body, step]

    def _read_plain(self, body: Body, step: int) -> Reading | None:
        try:
            reading = self.read(body, step)
        except Failure:
            return None
        said = answer(reading)
        if said is None or (step and said != answer(self.plain(body))):
            return None
        return reading

    def report(self, clause: str, fix: str) -> str:
        """Return the failure text of a clause, "" if nothing failed."""
        if not self.broken:
            return ""
        return report(clause, fix, self.broken, self.tried)


def recorded_body(name: str, data: bytes, framing: Framing) -> Body:
    """Return an author's body, its events told apart as far as they can be."""
    pieces: list[bytes] = {Framing.SSE: _ONE_EVENT, Framing.NDJSON: _ONE_LINE}.get(
        framing, re.compile(rb".+", re.DOTALL)
    ).findall(data)
    return Body(name, tuple(WirePart(Role.OTHER, piece) for piece in pieces), (), framing)
