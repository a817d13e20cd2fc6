"""One accepted connection: what the peer sends, how either side ends it."""

from __future__ import annotations

import contextlib
import io
import queue
import socket
import struct
import sys
import threading
from typing import TYPE_CHECKING, Any

from modeltest.backend.exchange import Disconnect

if TYPE_CHECKING:
    from modeltest.backend.exchange import Exchange


_RECEIVE = 64 * 1024


class Connection:
    """A connection of which the server's loop reads, and its handler's thread writes.

    The loop takes whatever comes as soon as it comes, data that nobody asked for included:
    behind unread data the peer's disconnect would not be seen.

    Attributes:
        socket: the socket.
        stopping: set once the backend stops.
        file: what the peer sends, as a file; it ends with the peer or the backend.
        disconnected: how the peer disconnected, or None while it is there.
        was_reset: whether the connection will be closed by a RST.
    """

    def __init__(self, sock: socket.socket, stopping: threading.Event) -> None:
        self.socket = sock
        self.stopping = stopping
        self.disconnected: Disconnect | None = None
        self.was_reset = False
        self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.file: io.BufferedReader[Any] = io.BufferedReader(_Inbox(self._pieces))
        self._writing = threading.Lock()
        self._write_was_reset = False
        self._lock = threading.Lock()
        self._exchanges: list[Exchange] = []

    # For the loop

    def receive(self) -> bool:
        """Take what has come; return whether there may be more."""
        try:
            data = self.socket.recv(_RECEIVE)
            how = Disconnect.FIN
        except OSError:
            data, how = b"", Disconnect.RST
        if not data and not self.stopping.is_set():
            self._note_disconnected(Disconnect.RST if self._write_saw_reset() else how)
        self._pieces.put(data)
        return bool(data)

    def shut(self) -> None:
        """Wake the handler, wherever it is blocked: the backend stops."""
        with contextlib.suppress(OSError):  # the peer may have been quicker
            self.socket.shutdown(socket.SHUT_RDWR)
        for exchange in self._known():
            exchange.wake()

    def abort(self) -> None:
        """Drop a socket that may be another's by now, and end the handler."""
        self.socket.detach()
        self._pieces.put(b"")
        for exchange in self._known():
            exchange.wake()

    # For the handler

    def attach(self, exchange: Exchange) -> None:
        """Let `exchange` know when the peer disconnects, or at once if it already has."""
        with self._lock:
            self._exchanges.append(exchange)
            how = self.disconnected
        if how is not None:
            exchange.note_disconnected(how)

    def send(self, data: bytes) -> None:
        """Write all of `data`.

        Raises:
            OSError: the peer has disconnected; how is for `receive` to say.
        """
        with self._writing:
            try:
                self.socket.sendall(data)
            except ConnectionResetError:
                self._write_was_reset = True
                raise

    def finish_writing(self) -> None:
        """Send a FIN."""
        with contextlib.suppress(OSError):  # the peer may have been quicker
            self.socket.shutdown(socket.SHUT_WR)

    def linger(self) -> None:
        """Send a FIN and wait until the peer disconnects too: it holds the connection no more."""
        self.finish_writing()
        while self.file.read1():
            pass  # a request on a connection that we have closed has no answer

    def reset(self) -> None:
        """Let the coming close be a RST, by a linger time of zero."""
        self.was_reset = True
        with contextlib.suppress(OSError):  # the peer may have been quicker
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)

    def _write_saw_reset(self) -> bool:
        """Tell whether a RST was reported to a write: a read then finds a plain end.

        On a dead connection no write lasts, so that the report of one is waited for.
        """
        if _is_dead(self.socket):
            with self._writing:
                pass
        return self._write_was_reset

    def _note_disconnected(self, how: Disconnect) -> None:
        with self._lock:
            self.disconnected = how
        for exchange in self._known():
            exchange.note_disconnected(how)

    def _known(self) -> tuple[Exchange, ...]:
        with self._lock:
            return tuple(self._exchanges)


class _Inbox(io.RawIOBase):
    """Pieces that another thread puts into a queue, as a file; an empty one ends it."""

    def __init__(self, pieces: queue.SimpleQueue[bytes]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._piece and not self._ended:
            self._piece = memoryview(self._pieces.get())
            self._ended = not self._piece
        size = min(len(buffer), len(self._piece))
        buffer[:size], self._piece = self._piece[:size], self._piece[size:]
        return size


def _is_dead(sock: socket.socket) -> bool:
    """Tell whether there was a RST, at least in answer to us; only Linux says so.

    Elsewhere a RST that comes while a script writes may be taken for a FIN.
    """
    if sys.platform != "linux":  # pragma: no cover - another platform
        return False
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == _TCP_CLOSE


_TCP_CLOSE = b"\x07"
"""The state of a connection of which the kernel knows no more, in the first byte of tcp_info."""

# struct linger holds two ints, on Windows (which alone has this option) two unsigned shorts.
_LINGER_0 = struct.pack("hh" if hasattr(socket, "SO_EXCLUSIVEADDRUSE") else "ii", 1, 0)
