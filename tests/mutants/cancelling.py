"""Streams that a token does not end."""

from __future__ import annotations

from collections.abc import Iterable

from modeltest import CancelToken, Event, Finish, Request

from .parrot import CancellableParrot, Line


class IgnoresTheToken(CancellableParrot):
    """Takes `cancel`, and never looks at it."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        return super().stream(request)


class LooksBetweenEvents(CancellableParrot):
    """Looks at the token after each event: a provider that is silent is waited for."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        for item in super().stream(request):
            if cancel is not None and cancel.cancelled:
                return
            yield item


class ListensAfterTheFirstEvent(CancellableParrot):
    """Registers with the token too late for the wait before the first event."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        own = CancelToken()
        listening = False
        for item in super().stream(request, own):
            if cancel is not None and not listening:
                cancel.add_callback(own.cancel)
                listening = True
            if own.cancelled:
                return
            yield item


class ListensAfterTheHeaders(CancellableParrot):
    """A wait for the headers is not cut short."""

    class Line(Line):
        def cut(self) -> None:
            if self.raw is not None:
                super().cut()


class RaisesWhenCancelled(CancellableParrot):
    """What the token calls looks at a response that may not be there yet."""

    class Line(Line):
        def cut(self) -> None:
            super().cut()
            self.status = self.raw.status  # type: ignore[union-attr]


class FinishesWhenCancelled(CancellableParrot):
    """A cancelled turn ends as if the provider had ended it."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        yield from super().stream(request, cancel)
        if cancel is not None and cancel.cancelled:
            yield Finish("stop")


class StaysWithTheToken(CancellableParrot):
    """The caller's token keeps the stream, and the caller keeps the token."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        events = super().stream(request, cancel)
        if cancel is not None:
            cancel.add_callback(lambda: events)
        return events
