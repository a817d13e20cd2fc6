"""A generator that another thread can stop, by a token, while it waits for the provider."""

from __future__ import annotations

from collections.abc import Iterator

from modeltest import CancelToken, Event, ModelError, Request

from .http_body import HTTPBody
from .openai_chat import OpenAIChatModel
from .openai_chat_turn import ChatTurn
from .read_turn import read_turn


class CancellableOpenAIChatModel(OpenAIChatModel):
    """OpenAI Chat Completions whose streams end, without a Finish, when a token is cancelled."""

    def stream(self, request: Request, cancel: CancelToken | None = None) -> Iterator[Event]:
        """Yield the events of the answer until `cancel` is cancelled.

        A wait for the next byte is cut short. A wait for the headers is not: requests gives
        no hold on a connection before they are there. Then nothing but `connect_timeout` and
        `idle_timeout` bounds it, and the connection is released once it ends.

        Raises:
            ConfigError: before anything is sent.
            ModelError, TruncatedToolArgumentsError: the turn failed, other than by `cancel`.
        """
        cancel = cancel or CancelToken()
        if not cancel.cancelled:
            with self.open(request) as body:
                yield from read_until(cancel, body, ChatTurn(secret=self._api_key))


def read_until(cancel: CancelToken, body: HTTPBody, turn: ChatTurn) -> Iterator[Event]:
    """Yield the events of the turn that `body` carries, until `cancel` is cancelled."""
    cancel.add_callback(body.wake)
    try:
        for event in read_turn(body, turn):
            if cancel.cancelled:
                return
            yield event
    except ModelError:
        # The read that was cut short fails: that is no news to who cancelled it.
        if not cancel.cancelled:
            raise
    finally:
        # A token may outlive many streams, and must not keep them.
        cancel.remove_callback(body.wake)
