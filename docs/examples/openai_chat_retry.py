"""A request that is sent again where that may help: before any answer, and no sooner than asked."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from .events import ChatError, Event, Object
from .openai_chat_cancel import CancellableOpenAIChat, pause


class RetryingOpenAIChat(CancellableOpenAIChat):
    """OpenAI Chat Completions that tries again while no answer has come.

    Once a stream has begun nothing is repeated: its reader would have the words twice.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        retries: int = 2,
        backoff: float = 0.5,
        longest: float = 60.0,
        **options: Any,
    ) -> None:
        super().__init__(base_url, key, **options)
        self._retries, self._backoff, self._longest = retries, backoff, longest

    def stream(self, request: Object, cancel: Any = None) -> Iterator[Event]:
        """Yield the answer until `cancel` is cancelled; while it pauses no connection is held."""
        for tried in range(self._retries + 1):
            if cancel and cancel.cancelled:
                return
            try:
                response = self.open(request)
            except ChatError as error:
                seconds = self._seconds(error, tried)
                if seconds is None:
                    raise
            else:
                with response:
                    yield from self.read_until(cancel, response)
                return
            pause(seconds, cancel)

    def _seconds(self, error: ChatError, tried: int) -> float | None:
        """Return how long to wait for the next try, or None if there is to be none."""
        status = error.status or 0
        if tried >= self._retries or not (status in (408, 409, 429) or status >= 500):
            return None
        # By chance, so that those who failed together do not come back together.
        own: float = self._backoff * 2.0**tried * random.uniform(0.5, 1.0)
        asked = error.retry_after or 0.0
        # Asked to wait for an hour, fail now: the caller knows better what to do meanwhile.
        return max(asked, own) if asked <= self._longest else None
