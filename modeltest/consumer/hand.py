"""What a consumer holds of a stream, and how it lets go; the part sync and async have alike."""

from __future__ import annotations

from typing import Any, ClassVar

from modeltest.consumer.log import Log
from modeltest.interface import Request


class ConsumerError(Exception):
    """What the consumer's own loop body raises, in the check that needs one."""


class Hand:
    """Holds one stream. Its methods are the verbs, and run where the adapter is used.

    After `drop` nothing of it refers to the stream, its iterator or any frame of the adapter.

    Attributes:
        log: where the events go.
        stream: what the model gave; None before `open` and after `drop`.
        is_generator: whether that is a generator.
        has_close: whether it has a `close()`, or `aclose()`.
        is_manager: whether it is a context manager.
        NAMES: the verbs, as they are told to the author.
    """

    NAMES: ClassVar[dict[str, str]] = {
        "open": "stream()",
        "take": "next()",
        "drain": "iterating to the end",
        "leave_loop": "leaving the loop",
        "close": "close()",
        "within": "the with-block",
        "drop": "dropping the stream",
    }

    def __init__(self, model: Any, request: Request, log: Log) -> None:
        """Prepare to ask `model` for a stream."""
        self.log = log
        self.stream: Any = None
        self.is_generator = False
        self.has_close = False
        self.is_manager = False
        self._step = "open"
        self._iterator: Any = None
        self._model = model
        self._request = request

    def doing(self) -> str:
        """Return which step of `read`, the verb that has several, is under way."""
        return self.NAMES[self._step]

    def leave_loop(self) -> None:
        """Let go of the iterator, and keep the stream."""
        self._iterator = None

    def drop(self) -> None:
        """Let go of the stream too, and of the model: nothing more is asked of it."""
        self._iterator = self.stream = self._model = None

    def _leave_block(self, leave_by: str) -> None:
        """Do what ends the body of a with-block, once the loop in it is over."""
        if leave_by == "error":
            raise ConsumerError("the loop body raised")

    def _hold(self, stream: Any, close: str, enter: str) -> None:
        """Take hold of a stream, and look at it while it may be asked: on the adapter's side."""
        self.stream = stream
        self.has_close = callable(getattr(stream, close, None))
        self.is_manager = hasattr(type(stream), enter)
