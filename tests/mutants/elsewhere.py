"""Adapters that contact others than the provider."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar

import requests

from modeltest import APIError, Event, Request

from .parrot import Parrot

# A block of addresses that is kept for documentation, and a name that nobody can have.
ADDRESS = "192.0.2.1"
NAME = "parrot.invalid"


class SendsTelemetry(Parrot):
    """Counts its streams at another host, on a thread."""

    def stream(self, request: Request) -> Iterable[Event]:
        threading.Thread(target=self.count).start()
        yield from super().stream(request)

    def count(self) -> None:
        with suppress(OSError):
            self.session.post(f"http://{ADDRESS}/telemetry", json={}, timeout=5)


class HasOneTelemetryThread(Parrot):
    """Counts its streams at another host, on a thread that all models have, and that outlives them."""

    queue: ClassVar[queue.SimpleQueue[str | None]] = queue.SimpleQueue()
    thread: ClassVar[threading.Thread | None] = None

    def stream(self, request: Request) -> Iterable[Event]:
        if HasOneTelemetryThread.thread is None:
            HasOneTelemetryThread.thread = threading.Thread(target=self.count)
            HasOneTelemetryThread.thread.start()
        self.queue.put("one more")
        yield from super().stream(request)

    @classmethod
    def count(cls) -> None:
        while cls.queue.get() is not None:
            with suppress(OSError):
                socket.create_connection((ADDRESS, 443), timeout=5).close()

    @classmethod
    def end(cls) -> None:
        if cls.thread is not None:
            cls.queue.put(None)
            cls.thread = None


class SendsTelemetryAtTheEnd(SendsTelemetry):
    """Counts its streams at another host, on a thread, when they are over."""

    def stream(self, request: Request) -> Iterable[Event]:
        try:
            yield from Parrot.stream(self, request)
        finally:
            threading.Thread(target=self.count).start()


class LooksUpAName(Parrot):
    """Asks for the address of another host, to find the nearest one."""

    def ask(self, request: Request) -> requests.Response:
        with suppress(OSError):
            socket.getaddrinfo(NAME, 443)
        return super().ask(request)


class FallsBack(Parrot):
    """After an error of the provider, asks at an address of its own."""

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except APIError:
            self.url = f"http://{ADDRESS}/v1/talk"
            return super().ask(request)


class CancelsAtItsOwnAddress(Parrot):
    """Tells the provider that it left early, at the address that was written down once."""

    def stream(self, request: Request) -> Iterable[Event]:
        try:
            yield from super().stream(request)
        except GeneratorExit:
            with suppress(OSError):
                self.session.delete(f"https://{NAME}/v1/talk", timeout=5)
            raise
