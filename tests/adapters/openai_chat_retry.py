"""A request that is sent again where that may help: before any answer, and no sooner than asked."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import requests

from modeltest import (
    APIError,
    CancelToken,
    Event,
    ModelError,
    QuotaExhaustedError,
    RateLimitedError,
    Request,
)

from .http_body import HTTPBody
from .openai_chat import OpenAIChatModel
from .openai_chat_cancel import read_until
from .openai_chat_turn import ChatTurn

_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}


class RetryingOpenAIChatModel(OpenAIChatModel):
    """OpenAI Chat Completions that tries again while no answer has come.

    Once a stream has begun, nothing is repeated: its reader would have the words twice.
    """

    def __init__(
        self,
        base_url: str,
        *,
        retries: int = 2,
        backoff: float = 0.5,
        max_wait: float = 60.0,
        **options: Any,
    ) -> None:
        """Name the provider; nothing is sent yet.

        Args:
            base_url: what precedes `/chat/completions`.
            retries: how many times a request may be sent again.
            backoff: seconds before the second try, twice as many before the third, and so on;
                up to half of it is left to chance.
            max_wait: seconds that are waited at most. Asked to wait longer, the turn fails at
                once: whoever asked for it knows better what to do meanwhile.
            options: those of `OpenAIChatModel`.
        """
        super().__init__(base_url, **options)
        self._retries = retries
        self._backoff = backoff
        self._max_wait = max_wait

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterator[Event]:
        """Yield the events of the answer until `cancel` is cancelled.

        It ends the wait for another try, too. No connection is held meanwhile.

        Raises:
            ConfigError: before anything is sent.
            ModelError, TruncatedToolArgumentsError: the last try failed, other than by `cancel`.
        """
        cancel = cancel or CancelToken()
        if body := self._answered(request, cancel):
            with body:
                yield from read_until(cancel, body, ChatTurn(secret=self._api_key))

    def _answered(self, request: Request, cancel: CancelToken) -> HTTPBody | None:
        """Send the request until there is an answer, and return it; None if cancelled."""
        tried = 0
        while not cancel.cancelled:
            try:
                return self.open(request)
            except ModelError as error:
                pause = self._pause(error, tried)
                if pause is None:
                    raise
            tried += 1
            _wait(pause, cancel)
        return None

    def _pause(self, error: ModelError, tried: int) -> float | None:
        """Return the seconds until the next try, or None if there is to be none."""
        if tried >= self._retries or not _may_pass(error):
            return None
        # By chance, so that those who failed together do not come back together.
        pause: float = min(self._backoff * 2.0**tried, self._max_wait) * random.uniform(0.5, 1.0)
        asked = error.retry_after if isinstance(error, RateLimitedError) else None
        if asked is None:
            return pause
        return max(asked, pause) if asked <= self._max_wait else None


def _may_pass(error: ModelError) -> bool:
    """Return whether the same request may succeed later."""
    if isinstance(error, QuotaExhaustedError):
        return False
    if isinstance(error, APIError):
        status = error.status or HTTPStatus.OK
        return status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    # No connection, or one that ended before the headers. Silence is neither: the provider
    # may be at work on the request, and the next one would wait as long.
    return isinstance(error.__cause__, requests.ConnectionError)


def _wait(seconds: float, cancel: CancelToken) -> None:
    """Return after so many seconds, or once `cancel` is cancelled."""
    woken = threading.Event()
    cancel.add_callback(woken.set)
    try:
        woken.wait(seconds)
    finally:
        cancel.remove_callback(woken.set)
