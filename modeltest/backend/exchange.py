"""The record of one request and its answer: the evidence a check judges by."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from enum import StrEnum
from typing import Any

from modeltest.clock import now
from modeltest.redaction import shown_headers, shown_request


class Disconnect(StrEnum):
    """How the peer disconnected."""

    FIN = "FIN"
    """It closed the connection, or shut down its writing: no HTTP client reads on after that."""
    RST = "RST"
    """It reset the connection, as a kernel does when it closes one with unread data."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step and the monotonic time, in seconds, at which it began."""

    step: object
    at: float


def _nothing() -> None:
    """Wake nobody else."""


@dataclass(eq=False)
class Exchange:
    """One request that reached the backend, and the script that was run in answer.

    Attributes:
        index: how many requests came before it on this backend, from 0.
        connection: which TCP connection carried it, from 0; two exchanges with one number
            shared a connection.
        method: "POST", …
        path: the request target as it came, query included.
        headers: the request's headers; look-ups ignore case.
        body: the request's body, as received.
        changed: called whenever the exchange changes, on the thread that changed it.
        received: monotonic time at which the request was complete, in seconds.
        steps: the script's steps that have begun, with their times.
        sent_bytes: bytes of body written so far, chunk framing not counted.
        sent_events: whole events written so far.
        ended: whether the body was ended as its framing demands.
        closed: whether the script sent a FIN, before or after the end of the body.
        reset: whether the script reset the connection; then nobody holds it.
        disconnected: how the peer disconnected, or None while it is there.
        disconnected_at: monotonic time at which it did, in seconds.
        blocked: consecutive moments (about 10 ms each) at which the peer took nothing.
    """

    index: int
    connection: int
    method: str
    path: str = field(repr=False)
    headers: Message = field(repr=False)
    body: bytes = field(repr=False)
    changed: Callable[[], object] = field(default=_nothing, repr=False)
    received: float = field(default_factory=now)
    steps: list[StepRecord] = field(default_factory=list, repr=False)
    sent_bytes: int = 0
    sent_events: int = 0
    ended: bool = False
    closed: bool = False
    reset: bool = False
    disconnected: Disconnect | None = None
    disconnected_at: float | None = None
    blocked: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @property
    def json(self) -> Any:
        """The request's body, parsed.

        Raises:
            ValueError: the body is not JSON.
        """
        return json.loads(self.body)

    @property
    def summary(self) -> str:
        """The request without its headers and credentials, a long body shortened."""
        return shown_request(self.method, self.path, self.body)

    def __str__(self) -> str:
        """The request with its headers; else as `summary`."""
        line, *body = self.summary.split("\n", 1)
        return "\n".join([line, *shown_headers(self.headers.items()), *body])

    @property
    def over(self) -> bool:
        """Whether the server is done: the peer disconnected, or the answer was sent whole."""
        return self.disconnected is not None or self.ended or self.reset

    def note_disconnected(self, how: Disconnect) -> None:
        """Record that the peer disconnected; only the first time counts."""
        with self._changed:
            if self.disconnected is None:
                self.disconnected, self.disconnected_at = how, now()
        self.wake()

    def note_ended(self) -> None:
        """Record that the body was ended as its framing demands."""
        self.ended = True
        self.wake()

    def note_reset(self) -> None:
        """Record that the script resets the connection."""
        self.reset = True
        self.wake()

    def note_blocked(self) -> None:
        """Record a moment at which the peer took nothing."""
        self.blocked += 1
        self.wake()

    def wake(self) -> None:
        """Let everyone who waits look again."""
        with self._changed:
            self._changed.notify_all()
        self.changed()

    def wait(self, condition: Callable[[], bool], timeout: float | None) -> bool:
        """Wait until `condition()` holds or `timeout` seconds are over; return whether it holds.

        `condition` is tried again whenever the exchange changes.
        """
        with self._changed:
            return self._changed.wait_for(condition, timeout)
