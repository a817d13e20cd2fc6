"""Parrot, an invented provider, and correct adapters for it in four styles.

Its answers are server-sent events: `data: {"word": "…"}`, at last `data: {"over": "stop"}`.
The adapters are cut into small methods, so that a mutant can change one of them.
"""

from __future__ import annotations

import json
import socket
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.client import HTTPException
from typing import Any, ClassVar, Self
from urllib.parse import SplitResult, urlsplit

import requests
from urllib3 import BaseHTTPResponse as Raw
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError

from modeltest import (
    APIError,
    CancelToken,
    Event,
    Finish,
    IncompleteResponseError,
    ModelError,
    Request,
    StreamProtocolError,
    TextDelta,
    ToolUse,
)
from modeltest.delivery import Target
from tests.adapters.sse import SSEDecoder
from tests.adapters.tools import OPENAI_CHAT_NAMES, check_tools

KEY = Target.api_key


def event(index: int) -> bytes:
    return b'data: {"word": "word%d "}\n\n' % index


class Parrot:
    """A generator: the request goes out when the first event is asked for."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        self.url = f"{base_url}/v1/talk"
        self.session = session
        self.headers = {"Accept-Encoding": "identity", "x-api-key": KEY}

    def stream(self, request: Request) -> Iterable[Event]:
        with self.ask(request) as response:
            yield from self.read(response.raw)

    def ask(self, request: Request) -> requests.Response:
        try:
            response = self.session.post(
                self.url,
                json=self.payload(request),
                headers=self.headers,
                stream=True,
                allow_redirects=False,
            )
        except (OSError, HTTPError) as error:
            raise ModelError(f"no answer: {error}") from error
        self.check(response.raw)
        return response

    def payload(self, request: Request) -> dict[str, Any]:
        check_tools(request, OPENAI_CHAT_NAMES)
        parts = [part for message in request.messages for part in message.parts]
        return {
            "messages": [[message.role, message.text] for message in request.messages],
            "calls": [self.call(part) for part in parts if isinstance(part, ToolUse)],
            "tools": [
                {**self.tool(tool.name, tool.parameters), "does": tool.description}
                for tool in request.tools
            ],
            **self.choice(request),
        }

    def choice(self, request: Request) -> dict[str, Any]:
        choice = request.tool_choice
        return {"choice": [choice.mode, choice.name]} if choice and request.tools else {}

    def call(self, call: ToolUse) -> dict[str, Any]:
        return {"name": call.name, **call.arguments}

    def tool(self, name: str, parameters: Any) -> dict[str, Any]:
        return {"name": name, "schema": {**parameters, "additionalProperties": False}}

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            try:
                raise APIError(raw.status, raw.read(2000).decode("utf-8", "replace"))
            finally:
                raw.close()

    def read(self, raw: Raw) -> Iterator[Event]:
        words = 0
        for data in self.decode(self.chunks(raw)):
            if "over" in data:
                yield Finish(reason=data["over"], raw=data["over"])
                return
            yield TextDelta(data["word"])
            words += 1
        yield self.cut_short(raw, words)

    def cut_short(self, raw: Raw, words: int) -> Event:
        """Say what a body means that ended after so many words, without "over"."""
        raise IncompleteResponseError(f"the answer ended after {words} words, before it was over")

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        try:
            while chunk := raw.read1(65536, decode_content=True):
                yield chunk
        except (OSError, HTTPError) as error:
            raise IncompleteResponseError(f"the connection broke: {error}") from error

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        decoder = SSEDecoder()
        for chunk in chunks:
            for sse in decoder.feed(chunk):
                if sse.data.strip():
                    yield self.load(sse.data)

    def load(self, data: str) -> dict[str, Any]:
        try:
            return json.loads(data)
        except ValueError as error:
            raise StreamProtocolError(f"an event is no JSON: {error}") from error


class CompressedParrot(Parrot):
    """Lets the provider compress."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.headers["Accept-Encoding"] = "gzip"


class Line:
    """One connection for one request, which any thread may cut."""

    def __init__(self, url: SplitResult) -> None:
        self.path = url.path
        self.connection = HTTPConnection(url.hostname or "", url.port)
        self.is_cut = False
        self.sock: socket.socket | None = None
        self.raw: Raw | None = None

    def ask(self, body: bytes, headers: dict[str, str]) -> Raw:
        self.connection.connect()
        self.sock = self.connection.sock
        if self.is_cut:
            raise ConnectionAbortedError("cut before the request was sent")
        self.connection.request("POST", self.path, body, headers, preload_content=False)
        self.raw = self.connection.getresponse()
        return self.raw

    def cut(self) -> None:
        self.is_cut = True
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self.raw is not None:
            self.raw.close()
        self.connection.close()


class CancellableParrot(Parrot):
    """A generator that another thread ends by a token, whatever it waits for.

    It has a connection of its own for each stream: requests shows none before the headers.
    """

    Line = Line

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterable[Event]:
        token = cancel or CancelToken()
        line = self.Line(urlsplit(self.url))
        token.add_callback(line.cut)
        try:
            yield from self.listen(token, line, request)
        except (OSError, HTTPError, HTTPException) as error:
            if not token.cancelled:
                raise ModelError(f"no answer: {error}") from error
        except ModelError:
            if not token.cancelled:
                raise
        finally:
            token.remove_callback(line.cut)
            line.close()

    def listen(self, token: CancelToken, line: Line, request: Request) -> Iterator[Event]:
        body = json.dumps(self.payload(request)).encode()
        raw = line.ask(body, {"Content-Type": "application/json", **self.headers})
        self.check(raw)
        for item in self.read(raw):
            if token.cancelled:
                return
            yield item


class ParrotStream:
    """A stream object: any thread may close it, also while another one reads."""

    def __init__(self, response: requests.Response, events: Iterator[Event]) -> None:
        self.response = response
        self.events = events
        self.reading = threading.Lock()
        self.closed = False
        # Knows the response, not the stream: no cycle, and it runs when the stream is dropped.
        self.release = weakref.finalize(self, response.close)

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        with self.reading:
            if self.closed:
                raise StopIteration
            try:
                return next(self.events)
            except BaseException:
                self.release()
                if self.closed:
                    raise StopIteration from None
                raise

    def close(self) -> None:
        self.closed = True
        wake(self.response)
        with self.reading:
            self.events.close()
            self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class ClosableParrot(Parrot):
    """Its streams are objects; the request goes out at the call."""

    Stream = ParrotStream

    def stream(self, request: Request) -> Iterable[Event]:
        response = self.ask(request)
        return self.Stream(response, self.read(response.raw))


class Pump:
    """What the thread that reads and the stream that is read share."""

    size = 16
    freed = False
    everyone: ClassVar[weakref.WeakSet[Pump]] = weakref.WeakSet()

    def __init__(self, response: requests.Response, events: Iterator[Event]) -> None:
        self.everyone.add(self)
        self.response = response
        self.events = events
        self.changed = threading.Condition()
        self.ready: deque[Event] = deque()
        self.error: BaseException | None = None
        self.ended = self.stopped = False

    def run(self) -> None:
        error = None
        try:
            with self.response:
                for item in self.events:
                    if not self.put(item):
                        break
        except BaseException as raised:
            error = raised
        self.end(error)

    def put(self, item: Event) -> bool:
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or len(self.ready) < self.size)
            self.ready.append(item)
            self.changed.notify_all()
            return not self.stopped

    def end(self, error: BaseException | None) -> None:
        with self.changed:
            self.error, self.ended = error, True
            self.changed.notify_all()

    def take(self) -> Event:
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or self.ready or self.ended)
            if self.ready and not self.stopped:
                self.changed.notify_all()
                return self.ready.popleft()
            error, self.error = self.error, None
            if error is not None and not self.stopped:
                raise error
            raise StopIteration

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        wake(self.response)

    def free(self) -> None:
        """End what a mutant waits for, when its test is over."""
        with self.changed:
            self.freed = self.stopped = True
            self.changed.notify_all()


class PumpedStream:
    """A stream whose events come from a thread."""

    def __init__(self, pump: Pump) -> None:
        self.pump = pump
        self.stop = weakref.finalize(self, pump.stop)
        self.thread = threading.Thread(target=pump.run, name="parrot-pump")
        self.thread.start()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return self.pump.take()

    def close(self) -> None:
        self.stop()
        self.thread.join()


class PumpedParrot(Parrot):
    """Reads ahead on a thread of each stream."""

    Pump = Pump
    Stream = PumpedStream

    def stream(self, request: Request) -> Iterable[Event]:
        response = self.ask(request)
        return self.Stream(self.Pump(response, self.read(response.raw)))


def wake(response: requests.Response) -> None:
    """End the read that another thread is blocked in; there may be none any more."""
    with suppress(HTTPError, OSError, RuntimeError, ValueError):
        response.raw.shutdown()
