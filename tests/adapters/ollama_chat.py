"""Ollama's `/api/chat` over requests: lines of JSON, as a stream object."""

from __future__ import annotations

import requests

from modeltest import Request

from .api_key import KeyHeader, check_api_key
from .http_body import HTTPBody
from .ndjson import LineDecoder
from .ollama_chat_request import ollama_request
from .ollama_chat_turn import OllamaTurn
from .openai_chat_stream import ChatStream
from .post import post
from .read_turn import read_turn


class OllamaChatModel:
    """A model behind `base_url`. Keeps nothing between streams, so many may run at once."""

    def __init__(
        self,
        base_url: str = "http://localhost:11434",
        *,
        api_key: str = "",
        model: str = "llama3.2",
        session: requests.Session | None = None,
        connect_timeout: float = 10.0,
        idle_timeout: float | None = None,
    ) -> None:
        """Name the server; nothing is sent yet.

        Args:
            base_url: what precedes `/api/chat`.
            api_key: the secret, where the server stands behind one; no error and no repr
                holds it.
            model: the server's name of the model.
            session: connections, proxies, certificates; a fresh one by default.
            connect_timeout: seconds until the connection has to stand.
            idle_timeout: seconds without a byte after which the turn fails; None waits, as
                a model has to be loaded first.

        Raises:
            ConfigError: the key holds characters that no header may hold.
        """
        self._url = base_url.rstrip("/") + "/api/chat"
        self._api_key = check_api_key(api_key)
        self._model = model
        self._session = session or requests.Session()
        self._timeout = (connect_timeout, idle_timeout)

    def stream(self, request: Request) -> ChatStream:
        """Send the request, and return its answer: iterate once, close from any thread.

        Raises:
            ConfigError: before anything is sent.
            ModelError: no answer, or one that is no stream.
        """
        body = self._open(request)
        turn = OllamaTurn(secret=self._api_key)
        return ChatStream(body, read_turn(body, turn, LineDecoder()))

    def _open(self, request: Request) -> HTTPBody:
        return post(
            self._session,
            self._url,
            ollama_request(self._model, request),
            key=KeyHeader("Authorization", self._api_key and f"Bearer {self._api_key}"),
            secret=self._api_key,
            timeout=self._timeout,
            media_type="application/x-ndjson",
        )
