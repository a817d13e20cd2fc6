"""Stream objects with a wrong `close()`, `with` or end."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Self

import requests

from modeltest import Event, ModelError, Request

from .parrot import ClosableParrot, ParrotStream


class RefersToItself(ClosableParrot):
    """The stream and its generator know each other: only the collector ends such a pair."""

    class Stream(ParrotStream):
        def __init__(self, response: requests.Response, events: Iterator[Event]) -> None:
            super().__init__(response, self.count(events))
            # Not response.close(): within the collector, the lock of its pool may be held.
            self.release = weakref.finalize(self, response.raw.close)
            self.words = 0

        def count(self, events: Iterator[Event]) -> Iterator[Event]:
            for item in events:
                self.words += 1
                yield item


class IsKnownToItsFinalizer(ClosableParrot):
    """The finalizer is a method of the stream, and so keeps it from being finalized."""

    class Stream(ParrotStream):
        def __init__(self, response: requests.Response, events: Iterator[Event]) -> None:
            super().__init__(response, events)
            self.release = weakref.finalize(self, self.let_go)

        def let_go(self) -> None:
            self.response.close()


class OnlySetsAFlag(ClosableParrot):
    """`close()` says that the stream is closed, and leaves it at that."""

    class Stream(ParrotStream):
        def close(self) -> None:
            self.closed = True


class DrainsALittle(ClosableParrot):
    """`close()` first reads ten more events: the end may be near."""

    class Stream(ParrotStream):
        def close(self) -> None:
            if not self.closed:
                for _, _event in zip(range(10), self, strict=False):
                    pass
            super().close()


class ClosesOnce(ClosableParrot):
    """The second `close()` raises."""

    class Stream(ParrotStream):
        def close(self) -> None:
            if self.closed:
                raise ValueError("the stream is closed")
            super().close()


class CannotCloseAfterTheEnd(ClosableParrot):
    """`close()` after the end, or after an error, raises."""

    class Stream(ParrotStream):
        def close(self) -> None:
            if not self.closed and not self.release.alive:
                raise ValueError("the stream has ended")
            super().close()


class RaisesWhenClosed(ClosableParrot):
    """To iterate a closed stream is an error."""

    class Stream(ParrotStream):
        def __next__(self) -> Event:
            if self.closed:
                raise ValueError("the stream is closed")
            return super().__next__()


class LazyStream:
    """Sends the request when the first event is asked for, and is closed like a file."""

    def __init__(self, model: LazilyReconnects, request: Request) -> None:
        self.model = model
        self.request = request
        self.inner: ParrotStream | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        if self.inner is None:
            response = self.model.ask(self.request)
            self.inner = ParrotStream(response, self.model.read(response.raw))
        return next(self.inner)

    def close(self) -> None:
        if self.inner is not None:
            self.inner.close()


class LazilyConnectsWhenClosed(ClosableParrot):
    """A stream closed before its first event does not know that it is closed."""

    Stream = LazyStream

    def stream(self, request: Request) -> LazyStream:
        return self.Stream(self, request)


class LazilyReconnects(LazilyConnectsWhenClosed):
    """A closed stream asks again when it is iterated."""

    class Stream(LazyStream):
        def close(self) -> None:
            super().close()
            self.inner = None


class WithDoesNotClose(ClosableParrot):
    """The stream's own with-block ends without `close()`."""

    class Stream(ParrotStream):
        def __exit__(self, *exc: object) -> None:
            pass


class SwallowsTheConsumersError(ClosableParrot):
    """The stream's own with-block takes the loop body's exception for one of its own."""

    class Stream(ParrotStream):
        def __exit__(self, *exc: object) -> bool:
            self.close()
            return True


class ReplacesTheConsumersError(ClosableParrot):
    """The stream's own with-block turns every exception into a ModelError."""

    class Stream(ParrotStream):
        def __exit__(self, *exc: object) -> None:
            self.close()
            if isinstance(exc[1], Exception):
                raise ModelError("the stream broke off") from exc[1]


class ClosesUnderTheReader(ClosableParrot):
    """`close()` closes the response while another thread reads: it waits for that thread."""

    class Stream(ParrotStream):
        def close(self) -> None:
            self.closed = True
            self.response.close()
            self.release()


class LeavesTheReaderAsleep(ClosableParrot):
    """`close()` leaves the closing to the thread that reads, which is not woken."""

    class Stream(ParrotStream):
        def close(self) -> None:
            self.closed = True
            if self.reading.acquire(blocking=False):
                self.events.close()
                self.release()
                self.reading.release()


class RaisesInDel(ClosableParrot):
    """A finalizer uses what `close()` has removed, and nothing where it was not called."""

    class Stream(ParrotStream):
        def __del__(self) -> None:
            if not self.closed:
                self.closed_at.cancel()  # type: ignore[attr-defined]
