"""A stream object: the request is sent at the call, and any thread may close it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator
from types import TracebackType
from typing import Self

from modeltest import Event, Request

from .http_body import HTTPBody
from .openai_chat import OpenAIChatModel
from .openai_chat_turn import ChatTurn
from .read_turn import read_turn


class ClosableOpenAIChatModel(OpenAIChatModel):
    """OpenAI Chat Completions whose streams are objects."""

    def stream(self, request: Request) -> ChatStream:
        """Send the request, and return its answer.

        Raises:
            ConfigError: before anything is sent.
            ModelError: no answer, or one that is no stream.
        """
        body = self.open(request)
        return ChatStream(body, read_turn(body, ChatTurn(secret=self._api_key)))


class ChatStream:
    """The events of one answer: iterate once, close from any thread; a context manager too.

    The connection is released at the end, on an error, on `close()`, and when the stream is
    dropped, iterated or not.
    """

    def __init__(self, body: HTTPBody, events: Generator[Event, None, None]) -> None:
        self._body = body
        self._events = events
        self._reading = threading.Lock()
        self._closed = False
        # A generator that was never started runs no cleanup, so the stream has its own. It
        # refers to the body only: a reference back to the stream would be a cycle, and the
        # connection would stay open until the garbage collector comes by.
        self._release = weakref.finalize(self, body.close)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        with self._reading:
            try:
                event = next(self._events)
            except BaseException:
                self._release()
                # The read that close() cut short fails: that is the end, not an error.
                if self._closed:
                    raise StopIteration from None
                raise
            if self._closed:
                raise StopIteration
            return event

    def close(self) -> None:
        """Release the connection; a thread that waits for an event sees the stream end.

        Harmless when repeated. Iterating afterwards yields nothing.
        """
        self._closed = True
        # To close the response under a reader would block until the provider sends
        # something. So the reader is woken, and the response closed once it has left.
        self._body.wake()
        with self._reading:
            self._events.close()
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
