"""The body of an HTTP response while it comes: read by one thread, woken by any, released once.

It takes a urllib3 response, which is also what requests keeps in `response.raw`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError, ReadTimeoutError

from modeltest import IncompleteResponseError

from .secret import Caught

_CHUNK = 64 * 1024
_SETTLE_SECONDS = 0.1


class HTTPBody:
    """A response whose headers have come; a context manager that releases its connection."""

    def __init__(self, raw: BaseHTTPResponse, *, secret: str = "") -> None:
        """Read `raw`; no error quotes `secret`, even if the provider repeats it."""
        self._raw = raw
        self._secret = secret
        self._lock = threading.Lock()
        self._closed = False
        self.status = raw.status
        self.headers = raw.headers

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive, decompressed where the provider compressed them.

        Raises:
            IncompleteResponseError: the connection broke, or was silent for too long.
        """
        # read1 gives what is there; read and stream would wait until a block is full.
        with Caught(HTTPError, OSError) as caught:
            while chunk := self._raw.read1(_CHUNK, decode_content=True):
                yield chunk
            return
        silent = isinstance(caught.error, ReadTimeoutError)
        what = "the provider fell silent" if silent else "the connection broke"
        raise caught.failure(IncompleteResponseError, what, self._secret)

    def start(self, size: int, seconds: float) -> bytes:
        """Return at most the first `size` bytes, or what of them comes within `seconds`."""
        start = b""
        deadline = time.monotonic() + seconds
        self._wait_no_longer_than(seconds)
        with suppress(IncompleteResponseError):
            for chunk in self.chunks():
                start += chunk
                if len(start) >= size or time.monotonic() >= deadline:
                    break
        return start[:size]

    def settle(self) -> None:
        """Take the end of the body if it is there, so that the connection serves again.

        The answer is already whole: a server that does not end its body is not waited for.
        """
        self._wait_no_longer_than(_SETTLE_SECONDS)
        with suppress(HTTPError, OSError):
            self._raw.read1(_CHUNK, decode_content=True)

    def wake(self) -> None:
        """Let a thread that waits for bytes go on, as if the server had closed; never blocks.

        That thread then closes the body. To close it from here would wait for the same bytes.
        """
        with self._lock:
            if not self._closed:
                # Nothing to wake: the body was read to its end, or the peer has gone.
                with suppress(HTTPError, OSError, RuntimeError, ValueError):
                    self._raw.shutdown()

    def close(self) -> None:
        """Release the connection: to the pool if the body was read to its end, else for good."""
        with self._lock:
            self._closed = True
        # In this order: half a body must not wait in the pool for the next request.
        self._raw.close()
        self._raw.release_conn()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _wait_no_longer_than(self, seconds: float) -> None:
        # urllib3 sets the time-out anew for the next request on this connection.
        sock = getattr(self._raw.connection, "sock", None)
        if sock is not None:
            with suppress(OSError):
                sock.settimeout(seconds)
