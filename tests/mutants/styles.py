"""Correct adapters whose deltas are not the provider's: merged, split, or asked for at the call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from modeltest import CancelToken, Event, Finish, IncompleteResponseError, Request, TextDelta
from tests.adapters.sse import SSEDecoder

from .parrot import CancellableParrot, Parrot, Raw


class MergesWhatComes(Parrot):
    """The words that one read gives are one delta."""

    def read(self, raw: Raw) -> Iterator[Event]:
        decoder = SSEDecoder()
        for chunk in self.chunks(raw):
            payloads = [self.load(sse.data) for sse in decoder.feed(chunk) if sse.data.strip()]
            words = "".join(data.get("word", "") for data in payloads)
            if words:
                yield TextDelta(words)
            for reason in (data["over"] for data in payloads if "over" in data):
                yield Finish(reason, reason)
                return
        raise IncompleteResponseError("the answer ended before it was over")


class SplitsWords(CancellableParrot):
    """Each letter is a delta, as for a screen that types."""

    def listen(self, token: CancelToken, line: Any, request: Request) -> Iterator[Event]:
        for item in super().listen(token, line, request):
            letters = item.text if isinstance(item, TextDelta) else ""
            for letter in letters:
                yield TextDelta(letter)
            if not letters:
                yield item


class PeeksAtTheFirst(CancellableParrot):
    """Waits for the first event at the call, so that the caller learns there of a refusal."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        events = iter(super().stream(request, cancel))
        return self.beginning(next(events, None), events)

    def beginning(self, first: Event | None, events: Iterator[Event]) -> Iterable[Event]:
        return Peeked(first, events)


class Peeked:
    """A stream of which one event was read."""

    def __init__(self, first: Event | None, events: Any) -> None:
        self.first = first
        self.events = events

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        first, self.first = self.first, None
        return first if first is not None else next(self.events)

    def close(self) -> None:
        self.first = None
        self.events.close()


class RaisesWhenCancelled(CancellableParrot):
    """What the cut connection raises comes out, and tells the caller that the turn was cut."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        own = CancelToken()
        if cancel is not None:
            cancel.add_callback(own.cancel)
        try:
            yield from super().stream(request, own)
            if own.cancelled:
                raise IncompleteResponseError("cancelled")
        finally:
            if cancel is not None:
                cancel.remove_callback(own.cancel)
