"""A generator that another thread can stop while it waits: by a token, for `close()` cannot."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import requests

from .events import ChatError, Event, Object
from .openai_chat import OpenAIChat
from .openai_chat_stream import wake


class CancellableOpenAIChat(OpenAIChat):
    """OpenAI Chat Completions whose streams end, without a `Done`, when a token is cancelled."""

    def stream(self, request: Object, cancel: Any = None) -> Iterator[Event]:
        """Yield the answer until `cancel` is cancelled.

        A token has `cancelled`, `add_callback(function)`, which calls at once if it was, and
        `remove_callback(function)`; the application has one, and so has modeltest.

        A wait for the headers is not cut short: requests gives no hold on the connection before
        they are there.
        """
        if not (cancel and cancel.cancelled):
            with self.open(request) as response:
                yield from self.read_until(cancel, response)

    def read_until(self, cancel: Any, response: requests.Response) -> Iterator[Event]:
        """Yield the events of a response until `cancel` is cancelled."""
        if cancel is None:
            yield from self.read(response)
            return

        def stop() -> None:
            wake(response)

        cancel.add_callback(stop)
        try:
            for event in self.read(response):
                if cancel.cancelled:
                    return
                yield event
        except ChatError:
            # The read that was cut short fails: no news to who cancelled it.
            if not cancel.cancelled:
                raise
        finally:
            cancel.remove_callback(stop)  # a token may outlive many streams


def pause(seconds: float, cancel: Any) -> None:
    """Return after so many seconds, or once `cancel` is cancelled."""
    woken = threading.Event()
    if cancel:
        cancel.add_callback(woken.set)
    woken.wait(seconds)
    if cancel:
        cancel.remove_callback(woken.set)
