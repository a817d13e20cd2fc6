"""What the careful adapters share: a hold on the response, and typed errors.

The two packages come from one generator: their streams wrap an httpx2 response, and their errors
carry `body`, and `status_code` where the provider answered with one.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2

from docs.examples.http_errors import api_error, parse_retry_after
from modeltest import IncompleteResponseError, ModelError, ProtocolError

_SETTLE_SECONDS = 0.1


class SDKBody:
    """The response beneath a package's stream, read past the package's own reader."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._chunks = response.iter_bytes()

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive. Raises IncompleteResponseError."""
        try:
            yield from self._chunks
        except httpx2.HTTPError as error:
            raise IncompleteResponseError(f"the connection broke: {error}") from error

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


@contextmanager
def model_errors(secret: str) -> Iterator[None]:
    """Raise whatever a package raises in the block as a `ModelError` that hides `secret`."""
    try:
        yield
    except (ModelError, ProtocolError):
        raise
    except Exception as error:
        raise _model_error(error, secret) from error


def _model_error(error: Any, secret: str) -> ModelError:
    status, body = getattr(error, "status_code", None), getattr(error, "body", None)
    if status is None and body is None:
        # A package's "Connection error." says what happened in its cause.
        reason = error.__cause__ or error
        return ModelError(f"no answer came: {type(reason).__name__}: {reason}")
    return api_error(
        body if isinstance(body, dict) else {"error": str(error)},
        status=status,
        retry_after=_retry_after(error),
        secret=secret,
    )


def _retry_after(error: Any) -> float | None:
    response = getattr(error, "response", None)
    return response and parse_retry_after(response.headers.get("Retry-After", ""))
