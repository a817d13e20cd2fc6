"""OpenAI Chat Completions over requests, as a generator: the shortest complete adapter."""

from __future__ import annotations

from collections.abc import Iterator

import requests

from modeltest import Event, Request

from .api_key import KeyHeader, check_api_key
from .http_body import HTTPBody
from .openai_chat_request import chat_request
from .openai_chat_turn import ChatTurn
from .post import post
from .read_turn import read_turn


class OpenAIChatModel:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str = "gpt-4o-mini",
        session: requests.Session | None = None,
        connect_timeout: float = 10.0,
        idle_timeout: float | None = None,
    ) -> None:
        """Name the provider; nothing is sent yet.

        Args:
            base_url: what precedes `/chat/completions`.
            api_key: the secret; no error and no repr holds it.
            model: the provider's name of the model.
            session: connections, proxies, certificates; a fresh one by default.
            connect_timeout: seconds until the connection has to stand.
            idle_timeout: seconds without a byte after which the turn fails; None waits, as
                a model may think for minutes.

        Raises:
            ConfigError: the key holds characters that no header may hold.
        """
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._api_key = check_api_key(api_key)
        self._model = model
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
        with self.open(request) as body:
            yield from read_turn(body, ChatTurn(secret=self._api_key))

    def open(self, request: Request) -> HTTPBody:
        """Send the request, and return the answer's body once its headers are there.

        Raises:
            ConfigError: before anything is sent.
            ModelError: no answer, or one that is no stream; nothing is left open.
        """
        return post(
            self._session,
            self._url,
            chat_request(self._model, request),
            key=KeyHeader("Authorization", f"Bearer {self._api_key}"),
            secret=self._api_key,
            timeout=self._timeout,
        )
