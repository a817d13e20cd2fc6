"""Generators that do not give their response back when the consumer stops early, or fails."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import requests
from requests.adapters import HTTPAdapter

from modeltest import APIError, Event, ModelError, Request, TextDelta

from .parrot import Parrot, Raw


class KeepsEveryStream(Parrot):
    """The model lists its streams, for statistics: dropping one drops nothing."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.streams: list[Iterable[Event]] = []

    def stream(self, request: Request) -> Iterable[Event]:
        self.streams.append(super().stream(request))
        return self.streams[-1]


class KeepsEveryStreamOfAFixedPool(KeepsEveryStream):
    """The same with a pool of ten connections, which makes the eleventh request wait."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        session.mount("http://", HTTPAdapter(pool_maxsize=10, pool_block=True))


class AsksAtTheCall(Parrot):
    """The request goes out at the call, but the response is closed by an unstarted generator."""

    def stream(self, request: Request) -> Iterable[Event]:
        return self.read_and_close(self.ask(request))

    def read_and_close(self, response: requests.Response) -> Iterator[Event]:
        with response:
            yield from self.read(response.raw)


def closed_generators_hold() -> bool:
    """Tell whether `close()` leaves an unstarted generator its arguments, as it does from 3.12 on.

    Where it does not, `AsksAtTheCall` lets go of its response after all.
    """

    def generator(argument: set[int]) -> Iterator[int]:
        yield from argument

    argument: set[int] = set()
    reference = weakref.ref(argument)
    unstarted = generator(argument)
    del argument
    unstarted.close()
    return reference() is not None


class AsksAtTheCallAndKeepsTheResponse(AsksAtTheCall):
    """The same, and the model knows its last response."""

    def ask(self, request: Request) -> requests.Response:
        self.last_response = super().ask(request)
        return self.last_response


class GivesBackInMidBody(Parrot):
    """Gives the connection back to the pool with half of the body unread."""

    def stream(self, request: Request) -> Iterable[Event]:
        response = self.ask(request)
        try:
            yield from self.read(response.raw)
        finally:
            response.raw.release_conn()


class DrainsOnTheWayOut(Parrot):
    """Reads the rest of the body, so that the connection can be used again."""

    def stream(self, request: Request) -> Iterable[Event]:
        response = self.ask(request)
        try:
            yield from self.read(response.raw)
        finally:
            response.raw.drain_conn()
            response.close()


class BindsTheInnerGenerator(Parrot):
    """`close()` of the outer generator does not reach an inner one that the model knows."""

    def stream(self, request: Request) -> Iterable[Event]:
        self.events = super().stream(request)
        for item in self.events:  # noqa: UP028 - `yield from` would reach it
            yield item


class CatchesEverything(Parrot):
    """A bare except takes the consumer's leaving for an error of the provider."""

    def stream(self, request: Request) -> Iterable[Event]:
        with self.ask(request) as response:
            events = self.read(response.raw)
            while True:
                try:
                    yield next(events)
                except (StopIteration, ModelError):
                    raise
                except:  # noqa: E722 - the fault
                    continue


class YieldsInFinally(Parrot):
    """Gives what a decoder may still hold, also to a consumer that has left."""

    def stream(self, request: Request) -> Iterable[Event]:
        with self.ask(request) as response:
            try:
                yield from self.read(response.raw)
            finally:
                yield TextDelta("")


class KeepsFailedResponsesOpen(Parrot):
    """The error of an HTTP 500 goes out with the response open in its frame."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            raise APIError(raw.status, "no reason given")


class ReadsHalfOfTheError(Parrot):
    """Reads the beginning of an error's body, and leaves the rest on the connection."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            raise APIError(raw.status, raw.read(40).decode())


class GivesBackTheErrorHalfRead(Parrot):
    """Reads the beginning of an error's body, and gives the connection back with the rest."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            start = raw.read(40).decode()
            raw.release_conn()
            raise APIError(raw.status, start)


class LimitsItsStreams(Parrot):
    """At most a hundred streams; a place becomes free at the end and on an error only."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.places = threading.BoundedSemaphore(100)

    def stream(self, request: Request) -> Iterable[Event]:
        self.places.acquire()
        try:
            yield from super().stream(request)
        except Exception:
            self.places.release()
            raise
        self.places.release()


class LocksInAFinalizer(Parrot):
    """A finalizer takes a lock that the code which the collector interrupts may hold."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.lock = threading.Lock()
        self.locks.append(self.lock)

    # Opened by the test when it is over, for meanwhile the collector stands still.
    locks: ClassVar[list[threading.Lock]] = []

    def payload(self, request: Request) -> dict[str, Any]:
        with self.lock:
            Counted(self.lock)
            return {**super().payload(request), "vocabulary": [{"id": i} for i in range(3000)]}


class Counted:
    """Refers to itself, so only the collector ends it."""

    def __init__(self, lock: threading.Lock) -> None:
        self.itself = self
        self.lock = lock

    def __del__(self) -> None:
        with self.lock:
            pass


class StartsATimer(Parrot):
    """A time limit for each stream, on a thread that no one cancels."""

    def stream(self, request: Request) -> Iterable[Event]:
        threading.Timer(600, self.give_up).start()
        yield from super().stream(request)

    def give_up(self) -> None:
        """Count it."""


class OpensAPipe(Parrot):
    """A pipe for each stream, of which one end stays open."""

    def stream(self, request: Request) -> Iterable[Event]:
        reader, writer = os.pipe()
        self.descriptors.append(reader)
        try:
            yield from super().stream(request)
        finally:
            os.close(writer)

    # Closed by the test when it is over.
    descriptors: ClassVar[list[int]] = []


class RaisesInAFinalizer(Parrot):
    """A log message is written when the stream ends, by code that fails."""

    def stream(self, request: Request) -> Iterable[Event]:
        words = 0
        try:
            for item in super().stream(request):
                words += 1
                yield item
        except GeneratorExit:
            self.log(f"left after {words:s} words")  # type: ignore[str-format]
            raise

    def log(self, text: str) -> None:
        """Write it."""


class CannotBeClosed(Parrot):
    """What `map` gives has no `close()`."""

    def stream(self, request: Request) -> Iterable[Event]:
        return map(self.counted, super().stream(request))

    def counted(self, item: Event) -> Event:
        return item


class KeepsAPlaceAfterARefusal(Parrot):
    """At most eight streams; one that was refused keeps its place."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.places = threading.BoundedSemaphore(8)

    def stream(self, request: Request) -> Iterable[Event]:
        self.places.acquire()
        with self.ask(request) as response:
            try:
                yield from self.read(response.raw)
            finally:
                self.places.release()


class WatchesRefusals(Parrot):
    """A thread beside each stream, which nobody ends when the provider refuses."""

    def stream(self, request: Request) -> Iterable[Event]:
        over = threading.Event()
        threading.Thread(target=over.wait, args=[30.0], daemon=True).start()
        with self.ask(request) as response:
            try:
                yield from self.read(response.raw)
            finally:
                over.set()
