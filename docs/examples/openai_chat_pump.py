"""A thread that reads ahead of the consumer, a few events and no more."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Self

import requests

from .events import Event, Object
from .openai_chat import OpenAIChat
from .openai_chat_stream import wake

AHEAD = 16


class PumpedOpenAIChat(OpenAIChat):
    """OpenAI Chat Completions that goes on reading while the consumer is busy."""

    def stream(self, request: Object) -> PumpedStream:
        """Send the request, and return its answer. Raises as the other's iterator does."""
        response = self.open(request)
        return PumpedStream(Pump(response, self.read(response)))


class PumpedStream:
    """The events of one answer: iterate once, close from any thread, drop it at any time."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        # The thread knows the pump and not the stream, or a dropped stream would be read on.
        self._stop = weakref.finalize(self, pump.stop)
        self._thread = threading.Thread(target=pump.run, name="chat-pump", daemon=True)
        self._thread.start()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        return self._pump.take()

    def close(self) -> None:
        """End the thread and release the connection; harmless when repeated."""
        self._stop()
        self._thread.join()


class Pump:
    """What the thread and the stream share: one condition for all that can happen.

    So neither hangs: the thread at a full queue that nobody reads, the consumer at an empty one.
    """

    def __init__(self, response: requests.Response, events: Iterator[Event]) -> None:
        self._response, self._events = response, events
        self._changed, self._ready = threading.Condition(), deque[Event]()
        self._stopped = False
        self._end: BaseException | None = None

    def run(self) -> None:
        """Read until the end, an error or `stop`; the connection is released before it shows."""
        end: BaseException = StopIteration()
        try:
            with self._response:
                for event in self._events:
                    if not self._put(event):
                        break
        except BaseException as error:
            end = error
        with self._changed:
            self._end = end
            self._changed.notify_all()

    def take(self) -> Event:
        """Wait for an event. Raises StopIteration at the end, or what reading raised."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._end or self._stopped)
            self._changed.notify_all()
            if self._ready and not self._stopped:
                return self._ready.popleft()
            end, self._end = self._end, StopIteration()
        raise StopIteration if self._stopped or end is None else end

    def stop(self) -> None:
        """Release both sides: neither a full queue nor a silent provider holds the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        wake(self._response)

    def _put(self, event: Event) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: len(self._ready) < AHEAD or self._stopped)
            self._ready.append(event)
            self._changed.notify_all()
            return not self._stopped
