"""What a script writes with: one answer on one connection."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeltest.backend.connection import Connection
    from modeltest.backend.exchange import Exchange


_SMALL_BUFFER = 64 * 1024


class PeerDisconnected(Exception):  # noqa: N818 - unwinds a script; nothing went wrong
    """The peer is gone: the rest of the script has no audience."""


class Stopped(Exception):  # noqa: N818 - unwinds a script; nothing went wrong
    """The backend is stopping."""


class ResponseWriter:
    """Writes the answer: the operations a step may use.

    Attributes:
        exchange: the record to write into.
        socket: the connection's socket; only for what the methods do not offer.
        closed: whether no more can be written: the script sent a FIN, or resets.
    """

    def __init__(
        self,
        connection: Connection,
        exchange: Exchange,
        *,
        chunked: bool,
        length: int | None,
    ) -> None:
        self.exchange = exchange
        self.socket = connection.socket
        self.closed = False
        self._connection = connection
        self._chunked = chunked
        self._length = length

    def write(self, data: bytes) -> None:
        """Write body bytes in one write; with chunked framing they are one chunk.

        Raises:
            PeerDisconnected: nobody is there to take them.
            Stopped: the backend is stopping.
        """
        if not data:
            return  # an empty chunk would end the body
        self.write_raw(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        self.exchange.sent_bytes += len(data)
        self.exchange.blocked = 0

    def write_half_chunk(self, data: bytes, missing: int) -> None:
        """Announce a chunk of `missing` bytes more than `data`, and write only that.

        A body that is not chunked gets the bytes alone.

        Raises:
            PeerDisconnected, Stopped: as `write`.
        """
        size = b"%x\r\n" % (len(data) + missing) if self._chunked else b""
        self.write_raw(size + data)
        self.exchange.sent_bytes += len(data)

    def write_raw(self, data: bytes) -> None:
        """Write bytes as they are, outside the body's framing.

        Raises:
            PeerDisconnected: nobody is there to take them.
            Stopped: the backend is stopping.
        """
        if self.closed:
            raise ValueError("a script cannot write after it has closed the connection")
        self._check()
        try:
            self._connection.send(data)
        except OSError:
            # How the peer disconnected is for the loop to say, which sees it too.
            self.wait(lambda: False)

    def count_events(self, count: int) -> None:
        """Record that so many whole events were written."""
        self.exchange.sent_events += count

    def count_blocked(self) -> None:
        """Record a moment at which the peer took nothing.

        Raises:
            PeerDisconnected, Stopped: as `write`.
        """
        self.exchange.note_blocked()
        self._check()

    def pause(self, seconds: float) -> None:
        """Wait so many seconds.

        Raises:
            PeerDisconnected, Stopped: as soon as that happens.
        """
        self.wait(lambda: False, seconds)

    def wait(self, condition: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until `condition()` holds, or `seconds` are over.

        It is tried again whenever the exchange changes.

        Raises:
            PeerDisconnected, Stopped: as soon as that happens.
        """
        self.exchange.wait(lambda: self._interrupted() or condition(), seconds)
        self._check()

    def end(self) -> None:
        """End the body as its framing demands, if that was not done yet.

        A body that is not as long as it claims can only be ended by closing.

        Raises:
            PeerDisconnected, Stopped: as `write`.
        """
        if self.exchange.ended or self.closed:
            return
        sent = self.exchange.sent_bytes
        if self._chunked:
            self.write_raw(b"0\r\n\r\n")
        elif sent != self._length:
            self.close()
        if self._length is None or sent >= self._length:
            self.exchange.note_ended()

    def close(self) -> None:
        """Send a FIN; the peer's own disconnect is still watched for."""
        self.closed = self.exchange.closed = True
        self._connection.finish_writing()

    def reset(self) -> None:
        """Close the connection with a RST."""
        self.closed = True
        self._connection.reset()
        self.exchange.note_reset()

    def shrink_send_buffer(self) -> None:
        """Keep the kernel from taking megabytes that the peer does not want."""
        with contextlib.suppress(OSError):  # macOS, if the peer has already disconnected
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SMALL_BUFFER)

    def _interrupted(self) -> bool:
        return self.exchange.disconnected is not None or self._connection.stopping.is_set()

    def _check(self) -> None:
        if self.exchange.disconnected is not None:
            raise PeerDisconnected
        if self._connection.stopping.is_set():
            raise Stopped
