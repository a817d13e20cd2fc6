"""What the careful adapters share: a hold on the response, and typed errors.

The two packages come from one generator: their streams wrap an httpx2 response, and so do their
errors where the provider has answered.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import httpx2

from modeltest import IncompleteResponseError
from tests.adapters.http_errors import ERROR_BYTES, http_error, is_stream, unreachable
from tests.adapters.secret import Caught

_CONNECT_SECONDS = 10.0
_SETTLE_SECONDS = 0.1


class StayingClient(httpx2.Client):
    """The client beneath a package that speaks with the provider alone; closed when dropped.

    The packages' own follow redirects, to anywhere.
    """

    def __init__(self, idle_timeout: float | None) -> None:
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=idle_timeout)
        super().__init__(follow_redirects=False, timeout=timeout)

    def __del__(self) -> None:
        self.close()


class SDKBody:
    """The response beneath a package's stream, read past the package's own reader."""

    def __init__(self, response: httpx2.Response, *, secret: str) -> None:
        self._response = response
        self._secret = secret
        self._chunks = response.iter_bytes()
        self.status = response.status_code
        self.headers = response.headers

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive. Raises IncompleteResponseError."""
        with Caught(httpx2.HTTPError) as caught:
            yield from self._chunks
            return
        silent = isinstance(caught.error, httpx2.ReadTimeout)
        what = "the provider fell silent" if silent else "the connection broke"
        raise caught.failure(IncompleteResponseError, what, self._secret)

    def start(self) -> bytes:
        """Return what comes first, and release the connection."""
        start = b""
        with suppress(httpx2.HTTPError):
            start = next(self._chunks, b"")
        self.close()
        return start[:ERROR_BYTES]

    def settle(self) -> None:
        """Take the end of the body if it is there, so that the connection serves again."""
        timer = threading.Timer(_SETTLE_SECONDS, self.wake)
        timer.start()
        with suppress(httpx2.HTTPError):
            next(self._chunks, b"")
        timer.cancel()
        timer.join()

    def wake(self) -> None:
        """Let a thread that waits for bytes go on, as if the server had closed.

        The packages' own `close()` does not: it returns, and the reader waits on.
        """
        # Once closed, the response has given its connection back, perhaps to another request.
        if not self._response.is_closed:
            sock = self._response.extensions["network_stream"].get_extra_info("socket")
            with suppress(OSError):  # the peer was faster
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Release the connection."""
        self._response.close()


def send(create: Callable[..., Any], payload: Mapping[str, Any], *, secret: str) -> SDKBody:
    """Return the body of the answer that a package's `create` gets for `payload`.

    Raises:
        ModelError: no answer, or one that is no stream; nothing is left open, and `secret` is
            neither in the error nor in its cause.
    """
    with Caught(Exception) as caught:
        body = SDKBody(create(**payload).response, secret=secret)
        if is_stream(body.status, body.headers):
            return body
        start = body.start()
    if caught.error is None:
        raise http_error(body.status, body.headers, start, secret=secret)
    refusal = getattr(caught.error, "response", None)
    if refusal is not None:
        caught.error = None  # its traceback holds this frame
        start = refusal.content[:ERROR_BYTES]
        raise http_error(refusal.status_code, refusal.headers, start, secret=secret)
    # A package's "Connection error." says in its cause what happened.
    caught.error = caught.error.__cause__ or caught.error
    raise unreachable(caught, secret=secret)
