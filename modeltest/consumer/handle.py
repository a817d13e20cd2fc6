"""What a consumer holds of a stream, and its verbs; the part sync and async have alike."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.consumer.hooks import EXPECTED, HookError

if TYPE_CHECKING:
    from modeltest.consumer.hooks import AdapterHooks
    from modeltest.consumer.log import Log
    from modeltest.interface import Request


_MAKE_EVENTS = f"correct the test case's translate(event): {EXPECTED}"


class ConsumerError(Exception):
    """What the consumer's own loop body raises, in the check that needs one."""


class StreamHandle:
    """Holds one stream. Its methods are the verbs, and run where the adapter is used.

    After `drop` nothing of it refers to the stream, its iterator or any frame of the adapter.

    Attributes:
        log: where the events go.
        stream: what the model gave; None before `open` and after `drop`.
        is_generator: whether that is a generator.
        has_close: whether it has a `close()`, or `aclose()`.
        is_manager: whether it is a context manager.
        names: the verbs, as messages to the author name them.
    """

    NAMES: ClassVar[dict[str, str]] = {
        "open": "stream()",
        "take": "next()",
        "drain": "iterating to the end",
        "break_loop": "leaving the loop",
        "close": "close()",
        "within": "the with-block",
        "drop": "dropping the stream",
    }

    def __init__(self, model: Any, request: Request, log: Log, hooks: AdapterHooks) -> None:
        """Prepare to ask `model` for a stream, by the `hooks` of the test case."""
        self.names = self.NAMES | {"open": hooks.opener}
        self.log = log
        self.stream: Any = None
        self.is_generator = False
        self.has_close = False
        self.is_manager = False
        self._step = "open"
        self._iterator: Any = None
        self._model = model
        self._request = request
        self._hooks = hooks
        self._waiting: deque[Any] = deque()  # translated, and not taken yet

    def doing(self) -> str:
        """Return which step of `read`, the verb that has several, is under way."""
        return self.names[self._step]

    def break_loop(self) -> None:
        """Drop the iterator, and keep the stream."""
        self._iterator = None

    def drop(self) -> None:
        """Drop the stream too, and the model: nothing more is asked of it."""
        self._waiting.clear()
        self._iterator = self.stream = self._model = None

    def _receive(self, event: Any) -> int:
        """Take what the adapter gave; where it is translated first, that waits to be taken.

        Returns:
            How many events were taken.
        """
        if self._hooks.translate is None:
            self.log.add(event)
            return 1
        try:
            self._waiting.extend(self._hooks.translated(event))
        except HookError as error:
            self.log.faults.note(f"{error}.", _MAKE_EVENTS)
            if self.log.faults.full:
                raise
        return 0

    def _take_waiting(self, count: int) -> int:
        """Take up to `count` of the events that wait; return how many more are wanted."""
        while count > 0 and self._waiting:
            self.log.add(self._waiting.popleft(), "translate", _MAKE_EVENTS)
            count -= 1
        return count

    def _leave_block(self, leave_by: str) -> None:
        """Do what ends the body of a with-block, once the loop in it is over."""
        if leave_by == "error":
            raise ConsumerError("the loop body raised")

    def _hold(self, stream: Any, close: str, enter: str) -> None:
        """Take hold of a stream, and look at it while it may be asked: on the adapter's side."""
        self.stream = stream
        self.has_close = callable(getattr(stream, close, None))
        self.is_manager = hasattr(type(stream), enter)
