"""Where a script plays: one answer on one connection."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable

from modeltest.backend.exchange import Exchange, Leaving


class PeerLeft(Exception):  # noqa: N818 - unwinds a script; nothing went wrong
    """The peer is gone: the rest of the script has no audience."""


class Stopped(Exception):  # noqa: N818 - unwinds a script; nothing went wrong
    """The backend is stopping."""


class Stage:
    """The operations a step may use.

    Attributes:
        exchange: the record to write into.
        socket: the connection.
        closed: whether no more can be written: the script sent a FIN, or resets.
    """

    def __init__(
        self,
        connection: socket.socket,
        exchange: Exchange,
        stopping: threading.Event,
        *,
        chunked: bool,
        length: int | None,
    ) -> None:
        self.exchange = exchange
        self.socket = connection
        self.closed = False
        self._chunked = chunked
        self._length = length
        self._stopping = stopping

    def write(self, data: bytes) -> None:
        """Write body bytes in one write; with chunked framing they are one chunk.

        Raises:
            PeerLeft: nobody is there to take them.
            Stopped: the backend is stopping.
        """
        if not data:
            return  # an empty chunk would end the body
        self.write_raw(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        self.exchange.sent_bytes += len(data)
        self.exchange.blocked = 0

    def write_raw(self, data: bytes) -> None:
        """Write bytes as they are, outside the body's framing.

        Raises:
            PeerLeft: nobody is there to take them.
            Stopped: the backend is stopping.
        """
        self._check()
        try:
            self.socket.sendall(data)
        except OSError as error:
            self._check()
            self.exchange.note_left(Leaving.RST)
            raise PeerLeft from error

    def count_events(self, count: int) -> None:
        """Record that so many whole events were written."""
        self.exchange.sent_events += count

    def count_blocked(self) -> None:
        """Record a moment at which the peer took nothing.

        Raises:
            PeerLeft, Stopped: as `write`.
        """
        self.exchange.blocked += 1
        self.exchange.wake()
        self._check()

    def pause(self, seconds: float) -> None:
        """Wait so many seconds.

        Raises:
            PeerLeft, Stopped: as soon as that happens.
        """
        self.wait(lambda: False, seconds)

    def wait(self, condition: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until `condition()` holds, or `seconds` are over.

        It is tried again whenever the exchange changes.

        Raises:
            PeerLeft, Stopped: as soon as that happens.
        """
        exchange = self.exchange
        exchange.wait(
            lambda: exchange.left is not None or self._stopping.is_set() or condition(), seconds
        )
        self._check()

    def end(self) -> None:
        """End the body as its framing demands, if that was not done yet.

        A body shorter than the length it claims can only be ended by closing.
        """
        if self.exchange.ended or self.closed:
            return
        if self._length is not None and self.exchange.sent_bytes < self._length:
            self.close()
            return
        if self._chunked:
            self.write_raw(b"0\r\n\r\n")
        elif self._length is None:
            self.close()
        self.exchange.ended = True
        self.exchange.wake()

    def close(self) -> None:
        """Send a FIN; the peer's own leaving is still watched for."""
        self.closed = True
        with contextlib.suppress(OSError):  # the peer may have been quicker
            self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Close the connection with a RST: an abortive close, by a linger time of zero."""
        self.closed = self.exchange.reset = True
        linger = struct.pack("hh" if _SHORT_LINGER else "ii", 1, 0)
        with contextlib.suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    def shrink_send_buffer(self) -> None:
        """Keep the kernel from taking megabytes that the peer does not want."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)

    def _check(self) -> None:
        if self.exchange.left is not None:
            raise PeerLeft
        if self._stopping.is_set():
            raise Stopped


# struct linger holds two ints, on Windows two unsigned shorts.
_SHORT_LINGER = hasattr(socket, "SO_EXCLUSIVEADDRUSE")
