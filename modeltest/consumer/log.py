"""What came out of one stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeltest.consumer.faults import Faults
from modeltest.interface import ReasoningDelta, TextDelta
from modeltest.threads import Progress, leave_copy, lines_of, raised_at, without_tracebacks
from modeltest.validation import NoEvent, as_event, weight

if TYPE_CHECKING:
    from modeltest.interface import Event
    from modeltest.threads import Spot


_LIMIT = 50_000_000
"""Bytes that the events of a stream may hold, roughly; no check sends a twentieth of it."""


class Endless(Exception):  # noqa: N818 - a verdict about the adapter
    """The stream gives events for ever, and is not read on: memory has an end."""


_GIVE_EVENTS = (
    "yield nothing but TextDelta, ReasoningDelta, ToolCallDelta and Finish of modeltest, or "
    "subclasses of them, each field with a value of its type"
)
_END_WITH_THE_BODY = "end the stream, or raise, once the body has ended: nothing comes after it"
_HAVE_A_TEXT = "let str(error) return a text: whoever catches the error logs it"


class Log:
    """The events a consumer took, and how the stream ended.

    Attributes:
        events: what was taken, in order, as the contract's own types.
        faults: what was taken that is no event; shared by the streams of a consumer.
        ended: whether iteration ended, in either way.
        error: what iterating raised, its tracebacks removed; None if it raised nothing.
        trace: where the error came through, innermost first.
        progress: counts the events; a backend's script may wait for it.
        hold_error: keep the tracebacks of what the adapter raises, and so its frames, as an
            `except` block does while it runs.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.events: list[Event] = []
        self.faults = faults or Faults()
        self.ended = False
        self.error: BaseException | None = None
        self.trace: list[Spot] = []
        self.progress = Progress()
        self.hold_error = False
        self._weight = 0

    def add(self, given: Any, giver: str = "the adapter", fix: str = _GIVE_EVENTS) -> None:
        """Keep an event. What is none is noted, and left out.

        Args:
            given: what was given.
            giver: who gave it.
            fix: what to do if it is none.

        Raises:
            NoEvent: so many were none that the stream is not worth reading.
            Endless: it was one too many.
        """
        leave_copy()
        try:
            event = as_event(given, giver)
        except NoEvent as fault:
            self.faults.note(f"{fault}.", fix)
            if self.faults.full:
                raise
        else:
            self.events.append(event)
            self._weight += weight(event)
            if self._weight > _LIMIT:
                self._give_up()
        self.progress.advance()

    def _give_up(self) -> None:
        fault = f"the stream gave {len(self.events):,} events, and no end"
        text = f"{fault}; expected an end where the answer, or the body, ends."
        self.faults.note(text, _END_WITH_THE_BODY)
        self.faults.full = True
        self.events.clear()
        raise Endless(fault)

    def end(self) -> None:
        """Note that iteration ended without an error."""
        leave_copy()
        self.ended = True

    def fail(self, error: BaseException) -> None:
        """Note what the stream raised; only the first counts."""
        if self.error is None:
            self.trace = raised_at(error)
            self.error = self.kept(error)
        self.ended = True

    @property
    def raised_at(self) -> list[str]:
        """The lines of the adapter and of what it calls that the error came through."""
        return lines_of(self.trace)

    def kept(self, error: BaseException) -> BaseException:
        """Return `error` as it may be kept: without its tracebacks, unless they are held.

        Its text is asked for once, here where the adapter runs: if that does not come back, it
        is found like any other hang.
        """
        leave_copy()
        try:
            str(error)
        except BaseException as second:
            text = f"the adapter raised a {type(error).__name__} whose str() raises"
            self.faults.note(f"{text} {type(second).__name__}; expected a text.", _HAVE_A_TEXT)
        return error if self.hold_error else without_tracebacks(error)

    @property
    def text(self) -> str:
        """The text of all text deltas, joined."""
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def texts(self) -> list[str]:
        """The text of each event that carries any, reasoning included."""
        return [
            event.text
            for event in self.events
            if isinstance(event, TextDelta | ReasoningDelta) and event.text
        ]
