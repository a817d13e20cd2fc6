"""What came out of one stream."""

from __future__ import annotations

from modeltest.backend import Progress
from modeltest.consumer.stacks import Spot, raised_at, shown
from modeltest.contract import Event, ReasoningDelta, TextDelta


class Log:
    """The events a consumer took, and how the stream ended.

    Attributes:
        events: what was taken, in order; anything the adapter yields is kept as it is.
        ended: whether iteration ended, in either way.
        error: what iterating raised, its tracebacks removed; None if it raised nothing.
        trace: where the error came through, innermost first.
        progress: counts the events; a backend's script may wait for it.
        hold_error: keep the tracebacks of what the adapter raises, and so its frames, as an
            `except` block does while it runs.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.ended = False
        self.error: BaseException | None = None
        self.trace: list[Spot] = []
        self.progress = Progress()
        self.hold_error = False

    def add(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)
        self.progress.advance()

    def end(self) -> None:
        """Note that iteration ended without an error."""
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
        return shown(self.trace)

    def kept(self, error: BaseException) -> BaseException:
        """Return `error` as it may be kept: without its tracebacks, unless they are held."""
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


def without_tracebacks(error: BaseException) -> BaseException:
    """Remove the tracebacks of `error` and of all it is chained to.

    A traceback keeps the frames it passed through alive, and in them the adapter's response:
    a kit that kept one would cause the leak it looks for, or hide how it ends.
    """
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        link = pending.pop()
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        link.__traceback__ = None
        # HTTP libraries hand on the error they translate as an argument, not only as a cause.
        pending += [link.__cause__, link.__context__, *link.args]
        if isinstance(link, BaseExceptionGroup):
            pending += link.exceptions
    return error
