"""Anthropic Messages over urllib3, as a generator."""

from __future__ import annotations

from collections.abc import Iterator

import urllib3
from urllib3.exceptions import HTTPError

from modeltest import Event, Request

from .anthropic_messages_request import messages_request
from .anthropic_messages_turn import MessagesTurn
from .api_key import check_api_key
from .http_body import HTTPBody
from .http_errors import expect_event_stream, unreachable
from .read_turn import read_turn
from .secret import Caught


class AnthropicMessagesModel:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str = "claude-sonnet-4-5",
        max_tokens: int = 4096,
        pool: urllib3.PoolManager | None = None,
        connect_timeout: float = 10.0,
        idle_timeout: float | None = None,
    ) -> None:
        """Name the provider; nothing is sent yet.

        Args:
            base_url: what precedes `/v1/messages`.
            api_key: the secret; no error and no repr holds it.
            model: the provider's name of the model.
            max_tokens: the longest answer, in tokens; the format requires a limit.
            pool: the connections; a fresh pool by default.
            connect_timeout: seconds until the connection has to stand.
            idle_timeout: seconds without a byte after which the turn fails; None waits.

        Raises:
            ConfigError: the key holds characters that no header may hold.
        """
        self._url = base_url.rstrip("/") + "/v1/messages"
        self._api_key = check_api_key(api_key)
        self._model = model
        self._max_tokens = max_tokens
        self._pool = pool or urllib3.PoolManager()
        self._timeout = urllib3.Timeout(connect=connect_timeout, read=idle_timeout)

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield the events of the answer; the request is sent when the first is asked for.

        The connection is released at the end, on an error, on `close()`, and when the
        generator is dropped. One that was never started holds none.

        Raises:
            ConfigError: before anything is sent.
            ModelError, TruncatedToolArgumentsError: the turn failed.
        """
        with self._open(request) as body:
            yield from read_turn(body, MessagesTurn(secret=self._api_key))

    def _open(self, request: Request) -> HTTPBody:
        with Caught(OSError, HTTPError) as caught:
            response = self._pool.request(
                "POST",
                self._url,
                body=messages_request(self._model, self._max_tokens, request),
                headers={
                    "Content-Type": "application/json",
                    "Accept": "text/event-stream",
                    # A compressed stream comes in blocks, not as it is written.
                    "Accept-Encoding": "identity",
                    "anthropic-version": "2023-06-01",
                    "x-api-key": self._api_key,
                },
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=self._timeout,
            )
            body = HTTPBody(response, secret=self._api_key)
            return expect_event_stream(body, secret=self._api_key)
        raise unreachable(caught, secret=self._api_key)
