"""Google Gemini's `streamGenerateContent` over requests, as a generator."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import requests

from modeltest import Event, Request

from .api_key import KeyHeader, check_api_key
from .gemini_request import gemini_request
from .gemini_turn import GeminiTurn
from .http_body import HTTPBody
from .post import post
from .read_turn import read_turn


class GeminiModel:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str = "gemini-2.5-flash",
        session: requests.Session | None = None,
        connect_timeout: float = 10.0,
        idle_timeout: float | None = None,
    ) -> None:
        """Name the provider; nothing is sent yet.

        Args:
            base_url: what precedes `/models/`.
            api_key: the secret; no error and no repr holds it.
            model: the provider's name of the model.
            session: connections, proxies, certificates; a fresh one by default.
            connect_timeout: seconds until the connection has to stand.
            idle_timeout: seconds without a byte after which the turn fails; None waits.

        Raises:
            ConfigError: the key holds characters that no header may hold.
        """
        # Without alt=sse the answer is one JSON array, to be read while it grows.
        path = f"/models/{quote(model, safe='')}:streamGenerateContent?alt=sse"
        self._url = base_url.rstrip("/") + path
        self._api_key = check_api_key(api_key)
        self._session = session or requests.Session()
        self._timeout = (connect_timeout, idle_timeout)

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield the events of the answer; the request is sent when the first is asked for.

        The connection is released at the end, on an error, on `close()`, and when the
        generator is dropped. One that was never started holds none.

        Raises:
            ConfigError: before anything is sent.
            ModelError, TruncatedToolArgumentsError: the turn failed.
        """
        with self._open(request) as body:
            yield from read_turn(body, GeminiTurn(secret=self._api_key))

    def _open(self, request: Request) -> HTTPBody:
        return post(
            self._session,
            self._url,
            gemini_request(request),
            key=KeyHeader("x-goog-api-key", self._api_key),
            secret=self._api_key,
            timeout=self._timeout,
        )
