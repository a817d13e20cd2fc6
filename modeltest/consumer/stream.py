"""The face of a stream under test: one set of verbs for sync and async adapters."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from modeltest.clock import now, pause
from modeltest.threads import Pending, position

if TYPE_CHECKING:
    from modeltest.consumer.handle import StreamHandle
    from modeltest.interface import CancelToken


_LOOK_INTERVAL = 0.002
"""Seconds between two looks at a thread: nothing signals that it is blocked."""


class Stream(ABC):
    """One stream of the adapter, used as an agent loop would use it.

    Each verb runs the adapter's code on the consumer's side, waits at most the deadline and
    returns what the adapter raised, or None; a `Hang` is raised when it does not come back.

    Attributes:
        log: the events taken and how the stream ended.
        deadline: seconds that each verb may take.
    """

    def __init__(
        self, handle: StreamHandle, deadline: float, when_over: Callable[[Any], object]
    ) -> None:
        """Prepare.

        Args:
            handle: holds the stream; its methods are the verbs.
            deadline: seconds that each verb may take.
            when_over: is given the stream once it was dropped.
        """
        self.log = handle.log
        self._handle = handle
        self.deadline = deadline
        self._when_over: Callable[[Any], object] | None = when_over
        self._latest: Pending | None = None

    def start(self, verb: str, *args: Any) -> Pending:
        """Begin a verb of this class by name, without waiting for it.

        Verbs run one after the other: one that is begun while another runs waits for its turn.
        """
        name = self._handle.doing if verb == "read" else self._handle.names[verb]
        self._latest = Pending(name, self._frames)
        self._submit(self._latest, verb, args)
        return self._latest

    @abstractmethod
    def cancel(self) -> BaseException | None:
        """Cancel from outside: the token if `stream` takes one; async: the owning task.

        Without either, the stream is closed as its consumer would. Cancelling a task only asks
        it to end; the verb that it runs, or the next one, returns the CancelledError.
        """

    @property
    @abstractmethod
    def can_be_cancelled(self) -> bool:
        """Whether `cancel` needs no help of the consumer: by a token, or by the task."""

    @property
    @abstractmethod
    def token(self) -> CancelToken | None:
        """The token that `stream` was given, if it takes one."""

    @property
    @abstractmethod
    def cancelled_by(self) -> type[BaseException] | None:
        """What comes out of a verb that is cancelled; None where that is the adapter's choice."""

    @property
    def is_generator(self) -> bool:
        """Whether the opened stream is a plain generator, which no other thread can close."""
        return self._handle.is_generator

    @property
    def has_close(self) -> bool:
        """Whether the opened stream can be closed."""
        return self._handle.has_close

    @property
    def is_manager(self) -> bool:
        """Whether the opened stream is a context manager itself."""
        return self._handle.is_manager

    @property
    def hangs(self) -> bool:
        """Whether the verb begun last has not come back yet."""
        return self._latest is not None and not self._latest.done

    @property
    @abstractmethod
    def thread(self) -> threading.Thread:
        """The thread on which the adapter runs."""

    @abstractmethod
    def close_from_elsewhere(self) -> Pending:
        """Begin to close the stream from another thread, or task, than the one that reads it."""

    def drop_soon(self) -> None:
        """Drop the stream and end the consumer's side; what hangs is left behind.

        It does not wait: `Consumer.stop` does, and unwinds. Harmless if it is done twice.
        """
        when_over, self._when_over = self._when_over, None
        if when_over is not None:
            self._begin_drop()
            when_over(self)

    def open(self) -> BaseException | None:
        """Ask the model for the stream."""
        return self._do("open")

    def take(self, count: int = 1) -> BaseException | None:
        """Take up to `count` events."""
        return self._do("take", count)

    def drain(self) -> BaseException | None:
        """Take events until the stream ends."""
        return self._do("drain")

    def read(self) -> None:
        """Read a whole turn as an agent loop does; `log` has its end or error. Then drop it."""
        self._do("read")
        self.drop_soon()

    def break_loop(self) -> BaseException | None:
        """Drop the iterator, as `break` does, and keep the stream."""
        return self._do("break_loop")

    def close(self) -> BaseException | None:
        """Call the stream's `close()` or `aclose()`."""
        return self._do("close")

    def drop(self) -> BaseException | None:
        """Drop the stream: nothing of the kit refers to it any more."""
        error = self._do("drop")
        self.drop_soon()
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
        until = now() + seconds
        still, mark = 0, position(self.thread)
        while still < 3 and now() < until:
            pause(_LOOK_INTERVAL)
            last, mark = mark, position(self.thread)
            still = still + 1 if mark == last else 0
        return still >= 3

    def _do(self, verb: str, *args: Any) -> BaseException | None:
        return self.start(verb, *args).wait(self.deadline)

    @abstractmethod
    def _submit(self, pending: Pending, verb: str, args: tuple[Any, ...]) -> None:
        """Let the consumer's side run a method of the handle, and finish `pending`."""

    @abstractmethod
    def _begin_drop(self) -> None:
        """Let the consumer's side drop the stream, once the verbs that were begun are over."""

    @abstractmethod
    def _frames(self) -> list[str]:
        """Return where the adapter stands."""
