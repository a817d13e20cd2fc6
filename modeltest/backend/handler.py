"""One connection of the backend: reads requests, plays a response for each."""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from modeltest.backend.exchange import Exchange, Leaving, Played
from modeltest.backend.script import End, Framing, Response, SendHead, Step
from modeltest.backend.stage import PeerLeft, Stage, Stopped

if TYPE_CHECKING:
    from modeltest.backend.backend import Backend
    from modeltest.backend.server import Server


class Handler(BaseHTTPRequestHandler):
    """Answers every method on every path with the backend's next response."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def __init__(self, backend: Backend, *args: Any) -> None:
        self._backend = backend
        self._number = backend.number_connection()
        self._exchange: Exchange | None = None
        self._closing = False
        super().__init__(*args)

    def handle_one_request(self) -> None:
        """Read one request and answer it; note when the peer leaves instead."""
        try:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline:
                self._leave(Leaving.FIN)
                return
            if self._closing:
                self.close_connection = True  # a request after our FIN cannot be answered
                return
            if not self.parse_request():
                return  # it answered 400 itself
            body = self._read_body()
        except ConnectionError:
            self._leave(Leaving.RST)
            return
        exchange, response = self._backend.begin(
            self._number, self.command, self.path, self.headers, body
        )
        self._exchange = exchange
        self._answer(exchange, response)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing: the exchanges are the record."""

    def _leave(self, how: Leaving) -> None:
        self.close_connection = True
        if self._exchange is not None and not self.server.stopping.is_set():
            self._exchange.note_left(how)
            self._backend.changed()

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return bytes(body)

    def _answer(self, exchange: Exchange, response: Response) -> None:
        stage = Stage(
            self.connection,
            exchange,
            self.server.stopping,
            chunked=response.framing is Framing.CHUNKED,
            length=response.body_length() if response.framing is Framing.LENGTH else None,
        )
        self.server.watch(self.connection, self._noticed(exchange))
        try:
            self._play(stage, response)
        except (PeerLeft, Stopped):
            pass  # the answer has no audience any more
        finally:
            self.server.unwatch(self.connection)
            # After a FIN of ours the peer may stay: its own is awaited like a next request.
            self._closing = stage.closed
            if exchange.reset or exchange.left is not None or not (exchange.ended or stage.closed):
                self.close_connection = True
            self._backend.changed()

    def _play(self, stage: Stage, response: Response) -> None:
        for step in (*response.before, SendHead(head(response)), *response.steps, End()):
            self._play_step(stage, step)
            if stage.closed:
                return

    def _play_step(self, stage: Stage, step: Step) -> None:
        stage.exchange.steps.append(Played(step, time.monotonic()))
        try:
            step.play(stage)
        except (PeerLeft, Stopped):
            raise
        except BaseException as error:
            self._backend.note_fault(stage.exchange, step, error)
            stage.reset()

    def _noticed(self, exchange: Exchange) -> Callable[[Leaving], None]:
        def left(how: Leaving) -> None:
            exchange.note_left(how)
            self._backend.changed()

        return left


def head(response: Response) -> bytes:
    """Return the status line and headers of `response`."""
    version = "1.0" if response.framing is Framing.CLOSE else "1.1"
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/{version} {response.status} {phrase}"]
    if response.content_type is not None:
        lines.append(f"Content-Type: {response.content_type}")
    match response.framing:
        case Framing.CHUNKED:
            lines.append("Transfer-Encoding: chunked")
        case Framing.LENGTH:
            lines.append(f"Content-Length: {response.body_length()}")
        case Framing.CLOSE:
            lines.append("Connection: close")
    lines += [f"{name}: {value}" for name, value in response.headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
