"""A stream as an object: the request is sent at the call, and any thread may close it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator
from contextlib import suppress
from typing import Self

import requests
from urllib3.exceptions import HTTPError

from .events import ChatError, Event, Object
from .openai_chat import OpenAIChat


class ClosableOpenAIChat(OpenAIChat):
    """OpenAI Chat Completions whose streams are objects."""

    def stream(self, request: Object) -> ChatStream:
        """Send the request, and return its answer. Raises as the other's iterator does."""
        response = self.open(request)
        return ChatStream(response, self.read(response))


class ChatStream:
    """The events of one answer: iterate once, close from any thread, drop it at any time."""

    def __init__(self, response: requests.Response, events: Generator[Event, None, None]) -> None:
        self._response, self._events = response, events
        self._reading, self._closed = threading.Lock(), False
        # A generator that was never started runs no cleanup, so the stream has its own. It
        # refers to the response only: with a reference back to the stream there would be a
        # cycle, and the connection stay open until the garbage collector comes by.
        self._release = weakref.finalize(self, response.close)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        with self._reading:
            try:
                event = None if self._closed else next(self._events, None)
            except ChatError:
                self._release()
                # The read that close() cut short fails: that is the end, and no error.
                if not self._closed:
                    raise
                event = None
            if event is None or self._closed:
                self._release()
                raise StopIteration
            return event

    def close(self) -> None:
        """Release the connection; a thread that waits for an event sees the stream end."""
        self._closed = True
        # To close the response would wait for the reader's next byte. So the reader is woken,
        # and the response closed once it has left.
        wake(self._response)
        with self._reading:
            self._events.close()
            self._release()


def wake(response: requests.Response) -> None:
    """Let the thread that waits for bytes go on, as if the server had closed; never blocks."""
    with suppress(HTTPError, OSError, RuntimeError, ValueError):  # nothing to wake any more
        response.raw.shutdown()
