"""One run of one check: what it may ask for, its cases, and what it found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeltest.harness.answer import Answer
from modeltest.harness.check import Level
from modeltest.harness.failure import Failure, Skip, report
from modeltest.harness.outcome import Outcome, Status

if TYPE_CHECKING:
    from modeltest.encoding import Body, Framing, WireFormat
    from modeltest.harness.answer import ErrorTypes, Transcript
    from modeltest.harness.check import Check
    from modeltest.harness.failure import Evidence


def needed(*names: str) -> str:
    """Say which attributes of the test case a check needs."""
    listed = " and ".join(f"`{name}`" for name in names)
    return f"needs {listed}: set {'them' if names[1:] else 'it'} on the test case"


@dataclass(frozen=True)
class FailedCase:
    """A case that failed."""

    name: str
    level: Level
    failure: Failure


class CheckContext(ABC):
    """What a check function is given; how bytes are delivered is the subclass's business.

    Attributes:
        check: the check.
        failed: the cases that failed.
        tried: how many cases were tried.
        unjudged: why cases could not be judged, with their names.
        skips: what leaves a case, or the whole check, unjudged; the text says why.
        harm: what tells that the adapter harmed the process, so that the kit cannot go on.
        endings: the ways in which a body can be cut short here, by name.
        good_endings: the ways in which a whole body can end here, by name.
    """

    skips: tuple[type[Exception], ...] = (Skip,)
    harm: tuple[type[Exception], ...] = ()
    endings: Sequence[str] = ("",)
    good_endings: Sequence[str] = ("",)

    def __init__(self, check: Check) -> None:
        self.check = check
        self.failed: list[FailedCase] = []
        self.tried = 0
        self.unjudged: dict[str, list[str]] = {}
        self._plain: dict[bytes, Transcript] = {}

    # What there is to deliver

    @property
    @abstractmethod
    def model_error(self) -> ErrorTypes:
        """The exception type, or types, by which a turn may fail."""

    @property
    def package(self) -> str:
        """The top-level package that the adapter comes from; unknown here."""
        return ""

    @property
    @abstractmethod
    def wire(self) -> WireFormat | None:
        """The provider's wire format, or None."""

    @property
    @abstractmethod
    def framing(self) -> Framing:
        """How events are separated."""

    @abstractmethod
    def plain_bodies(self) -> Sequence[Body]:
        """Return answers to be re-encoded: the wire's, or the author's."""

    @abstractmethod
    def short_bodies(self) -> Sequence[Body]:
        """Return short ones, where each byte costs."""

    @abstractmethod
    def bodies_with_text(self, text: str) -> Iterable[Body]:
        """Yield bodies that say `text`.

        Raises:
            Skip: nobody knows where a text stands in the author's own.
        """

    @abstractmethod
    def bodies_from_text_on(self) -> Iterable[Body]:
        """Yield bodies whose first event carries text: that it is lost would show."""

    @abstractmethod
    def malformed_bodies(self) -> Iterable[Body]:
        """Yield answers with an event that cannot be read."""

    def paced_bodies(self) -> Iterable[Body]:
        """Yield bodies of which each event can be awaited before the next is sent; none here."""
        return ()

    def bodies(self, ask: Callable[[WireFormat], Iterable[Body]]) -> tuple[Body, ...]:
        """Return the bodies for which `ask` asks the wire format.

        Raises:
            Skip: there is no wire format.
            Unsupported: the format has none.
        """
        if self.wire is None:
            raise Skip(needed("wire"))
        return tuple(ask(self.wire))

    def bodies_if_any(self, ask: Callable[[WireFormat], Iterable[Body]]) -> tuple[Body, ...]:
        """Return the same; none where there is no wire format, or it has none."""
        try:
            return () if self.wire is None else self.bodies(ask)
        except self.skips:
            return ()

    # How it is delivered

    @abstractmethod
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
        """Try one case: deliver a body, and judge what came of it.

        Args:
            body: what is delivered.
            expect: judges the answer; it raises `Failure`, or `Skip`.
            name: the case's; the body's by default.
            cuts: byte offsets at which one piece ends and the next begins; an event a piece when
                None.
            ending: one of `endings` or `good_endings`.
            content_type: of the response, where it is not the wire's.
            paced: each event is awaited before the next is sent.
            level: of this case, where it is not the check's.

        Raises:
            Failure: the adapter hung.
        """

    def answer_to(self, body: Body, log: Transcript) -> Answer:
        """Return what came of `body`, to be judged."""
        return Answer(body, log, self.model_error, self.package)

    @abstractmethod
    def reading(self, body: Body) -> AbstractContextManager[Callable[[bytes], Transcript]]:
        """Try one case: give a function that lets the adapter read any bytes, again and again.

        Args:
            body: names the case.
        """

    @abstractmethod
    def read_apart(self, body: Body) -> Transcript:
        """Return what is made of `body`, which is no case.

        Raises:
            Skip: it leaves nothing to compare.
        """

    def plain(self, body: Body) -> Transcript:
        """Return what is made of `body` as it stands; it is read once.

        Raises:
            Skip: it leaves nothing to compare.
        """
        if body.data not in self._plain:
            self._plain[body.data] = self.read_apart(body)
        return self._plain[body.data]

    # What was found

    @contextmanager
    def judging(self, name: str, level: Level | None = None) -> Iterator[None]:
        """Surround one case: a `Failure` in the block is kept, and the check goes on.

        After a hang it does not. A `Skip`, or what the wire cannot say, leaves the case unjudged.

        Raises:
            Failure: the adapter hung.
        """
        self.tried += 1
        try:
            yield
        except self.skips as skip:
            self.tried -= 1
            self.leave_unjudged(str(skip), name)
        except Failure as failure:
            self.note_failure(failure, name, level)
            if failure.hung:
                raise

    def note_failure(self, failure: Failure, name: str = "", level: Level | None = None) -> None:
        """Note that a case, or the whole check, failed; one that is noted already stays once."""
        if any(one.failure is failure for one in self.failed):
            return
        if name and level not in (None, self.check.level):
            name = f"{name} [{level}]"
        self.failed.append(FailedCase(name, level or self.check.level, failure))

    def leave_unjudged(self, reason: str, name: str = "") -> None:
        """Note that a case, or the whole check, cannot be judged."""
        self.unjudged.setdefault(reason, []).extend([name] if name else [])

    def run(self) -> None:
        """Run the check."""
        check = self.check
        if check.bodies is None:
            check.judge(self)
            return
        for body in self.bodies(check.bodies):
            self.deliver(body, check.judge)

    def outcome(self, *more: Evidence) -> Outcome:
        """Return how the check ended.

        Args:
            more: what was seen besides.
        """
        if not self.failed:
            status = Status.PASSED if self.tried else Status.SKIPPED
            return Outcome(self.check, status, self._reasons())
        must = any(one.level is Level.MUST for one in self.failed)
        failed = [(one.name, one.failure) for one in self.failed]
        text = report(self.check.id, self.check.fix, failed, self.tried, *more)
        return Outcome(self.check, Status.FAILED if must else Status.WARNED, text)

    def _reasons(self) -> str:
        """Say why cases could not be judged: each reason once, with the cases it holds for."""
        return "; ".join(
            f"{reason} ({', '.join(names)})" if names else reason
            for reason, names in self.unjudged.items()
        )
