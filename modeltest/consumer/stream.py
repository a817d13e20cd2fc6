"""The face of a stream under test: one set of verbs for sync and async adapters."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

from modeltest.consumer.log import Log
from modeltest.consumer.pending import Pending


class ConsumerError(Exception):
    """What the consumer's own loop body raises, in the check that needs one."""


class Stream(ABC):
    """One stream of the adapter, used as an agent loop would use it.

    Each verb runs the adapter's code on the consumer's side, waits at most the deadline and
    returns what the adapter raised, or None; a `Hang` is raised when it does not come back.

    Attributes:
        log: the events taken and how the stream ended.
    """

    def __init__(self, deadline: float) -> None:
        self.log = Log()
        self._deadline = deadline

    @abstractmethod
    def start(self, verb: str, *args: Any) -> Pending:
        """Begin a verb of this class by name, without waiting for it."""

    @abstractmethod
    def cancel(self) -> None:
        """Cancel from outside: the token if `stream` takes one; async: the owning task."""

    @property
    @abstractmethod
    def takes_token(self) -> bool:
        """Whether `cancel` needs no help of the consumer: by a token, or by the task."""

    @property
    @abstractmethod
    def is_generator(self) -> bool:
        """Whether the opened stream is a plain generator, which no other thread can close."""

    @property
    @abstractmethod
    def has_close(self) -> bool:
        """Whether the opened stream can be closed."""

    @property
    @abstractmethod
    def is_manager(self) -> bool:
        """Whether the opened stream is a context manager itself."""

    @abstractmethod
    def position(self) -> object:
        """Return a mark of where the consumer's side is; unchanged while it is blocked."""

    @abstractmethod
    def close_from_elsewhere(self) -> Pending:
        """Begin to close the stream from another thread than the one that reads it."""

    @abstractmethod
    def release(self) -> None:
        """End the consumer's side; what hangs is left behind."""

    def open(self) -> BaseException | None:
        """Ask the model for the stream."""
        return self._do("open")

    def take(self, count: int = 1) -> BaseException | None:
        """Take up to `count` events."""
        return self._do("take", count)

    def drain(self) -> BaseException | None:
        """Take events until the stream ends."""
        return self._do("drain")

    def leave_loop(self) -> BaseException | None:
        """Let go of the iterator, as `break` does, and keep the stream."""
        return self._do("leave_loop")

    def close(self) -> BaseException | None:
        """Call the stream's `close()` or `aclose()`."""
        return self._do("close")

    def drop(self) -> BaseException | None:
        """Let go of the stream: nothing of the kit refers to it any more."""
        error = self._do("drop")
        self.release()
        return error

    def within(self, *, own_manager: bool, count: int, leave_by: str) -> BaseException | None:
        """Take `count` events inside a with-block, then leave it.

        Args:
            own_manager: use the stream's own context manager, else `closing`.
            count: events to take.
            leave_by: "break" out of a loop, "end" of the block, or "error".
        """
        return self._do("within", own_manager, count, leave_by)

    def settle(self, seconds: float) -> bool:
        """Wait until the consumer's side stands still, blocked; return whether it does."""
        until = time.monotonic() + seconds
        still, mark = 0, self.position()
        while still < 3 and time.monotonic() < until:
            time.sleep(0.002)  # between two looks at a thread: nothing signals "blocked"
            last, mark = mark, self.position()
            still = still + 1 if mark == last else 0
        return still >= 3

    def _do(self, verb: str, *args: Any) -> BaseException | None:
        return self.start(verb, *args).wait(self._deadline)
