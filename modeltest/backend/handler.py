"""One connection: reads requests, runs a response for each, lingers until the peer disconnects."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

from modeltest.backend.exchange import StepRecord
from modeltest.backend.request import MalformedRequest, read_request
from modeltest.backend.response import Framing, SendHead
from modeltest.backend.steps import End
from modeltest.backend.writer import PeerDisconnected, ResponseWriter, Stopped
from modeltest.clock import now

if TYPE_CHECKING:
    from modeltest.backend.connection import Connection
    from modeltest.backend.exchange import Exchange
    from modeltest.backend.request import Request
    from modeltest.backend.response import Response
    from modeltest.backend.steps import Step


_REFUSAL = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Record(Protocol):
    """Where a handler gets its scripts from, and writes what happens."""

    def begin(self, connection: int, request: Request) -> tuple[Exchange, Response]:
        """Record a request, and return the response to play."""
        ...

    def note_malformed(self, what: str) -> None:
        """Record what came instead of a request."""
        ...

    def note_fault(self, exchange: Exchange, step: Step, error: BaseException) -> None:
        """Record what a script raised."""
        ...


class Handler:
    """Answers every method on every path, with the record's next response."""

    def __init__(self, record: Record, connection: Connection, number: int) -> None:
        """Take over a connection.

        Args:
            record: gives the scripts, takes the evidence.
            connection: the connection.
            number: how many connections came before it.
        """
        self._record = record
        self._connection = connection
        self._number = number

    def run(self) -> None:
        """Answer requests until the connection ends; then wait until the peer disconnects."""
        while (request := self._next_request()) is not None:
            if not self._answer(request):
                break
        if not self._connection.was_reset:
            self._connection.linger()

    def _next_request(self) -> Request | None:
        try:
            return read_request(self._connection.file, self._send)
        except MalformedRequest as malformed:
            # What breaks off because the backend stops is not the peer's doing.
            if not self._connection.stopping.is_set():
                self._record.note_malformed(str(malformed))
                self._send(_REFUSAL)
            return None

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # the peer has disconnected, as the next read will show
            self._connection.send(data)

    def _answer(self, request: Request) -> bool:
        """Play the next response; return whether another request may follow it."""
        exchange, response = self._record.begin(self._number, request)
        self._connection.attach(exchange)
        framing = response.framing
        if framing is Framing.CHUNKED and request.version == "HTTP/1.0":
            framing = Framing.CLOSE  # such a peer does not know chunks
        writer = ResponseWriter(
            self._connection,
            exchange,
            chunked=framing is Framing.CHUNKED,
            length=response.body_length() if framing is Framing.LENGTH else None,
        )
        with contextlib.suppress(PeerDisconnected, Stopped):  # the answer has no audience any more
            self._run(writer, (*response.before, SendHead(response.head(framing))))
            if request.method == "HEAD" or not response.may_have_body:
                exchange.note_ended()
            else:
                self._run(writer, (*response.steps, End()))
        return request.keep_alive and exchange.ended and not writer.closed

    def _run(self, writer: ResponseWriter, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if writer.closed:
                return
            writer.exchange.steps.append(StepRecord(step, now()))
            try:
                step.run(writer)
            except (PeerDisconnected, Stopped):
                raise
            except BaseException as error:
                self._record.note_fault(writer.exchange, step, error)
                writer.reset()
