"""Adapters that contact others than the provider."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from contextlib import suppress

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
