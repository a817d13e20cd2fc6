"""A thread reads ahead of the consumer, a few events and no more."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Generator
from typing import Self

from modeltest import Event, Request

from .http_body import HTTPBody
from .openai_chat import OpenAIChatModel
from .openai_chat_turn import ChatTurn
from .read_turn import read_turn

_READ_AHEAD = 16


class PumpedOpenAIChatModel(OpenAIChatModel):
    """OpenAI Chat Completions that goes on reading while the consumer is busy."""

    def stream(self, request: Request) -> PumpedStream:
        """Send the request, and return its answer.

        Raises:
            ConfigError: before anything is sent.
            ModelError: no answer, or one that is no stream.
        """
        body = self.open(request)
        return PumpedStream(_Pump(body, read_turn(body, ChatTurn(secret=self._api_key))))


class PumpedStream:
    """The events of one answer: iterate once, close from any thread.

    The thread ends, and the connection is released, at the end, on an error, on `close()`,
    and when the stream is dropped, iterated or not.
    """

    def __init__(self, pump: _Pump) -> None:
        self._pump = pump
        # The thread knows the pump and not the stream. If it kept the stream alive, a
        # dropped one would be read until the provider stops.
        self._stop = weakref.finalize(self, pump.stop)
        self._thread = threading.Thread(target=pump.run, name="chat-pump", daemon=True)
        self._thread.start()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self._pump.take()
        if event is None:
            raise StopIteration
        return event

    def close(self) -> None:
        """End the thread and release the connection; harmless when repeated."""
        self._stop()
        self._thread.join()


class _Pump:
    """What the thread and the stream share."""

    def __init__(self, body: HTTPBody, events: Generator[Event, None, None]) -> None:
        self._body = body
        self._events = events
        self._changed = threading.Condition()
        self._ready: deque[Event] = deque()
        self._ended = False
        self._stopped = False
        self._error: BaseException | None = None

    def run(self) -> None:
        """Read until the end, an error or `stop`; the connection is released before it shows."""
        error: BaseException | None = None
        try:
            with self._body:
                for event in self._events:
                    if not self._put(event):
                        break
        except BaseException as raised:
            error = raised
        with self._changed:
            self._error = error
            self._ended = True
            self._changed.notify_all()

    def take(self) -> Event | None:
        """Wait for an event, and return it; None at the end. Raises what reading raised."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended or self._stopped)
            if self._stopped:
                return None
            if self._ready:
                self._changed.notify_all()
                return self._ready.popleft()
            error, self._error = self._error, None
        if error is not None:
            raise error
        return None

    def stop(self) -> None:
        """Let both sides go: neither a full queue nor a silent provider holds the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._body.wake()

    def _put(self, event: Event) -> bool:
        """Wait for room, and queue the event; False if nobody wants it."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._ready) < _READ_AHEAD or self._stopped)
            if self._stopped:
                return False
            self._ready.append(event)
            self._changed.notify_all()
            return True
