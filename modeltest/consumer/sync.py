"""Driving a synchronous adapter, on a thread that can be left behind."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

from modeltest.consumer.hand import Hand
from modeltest.consumer.log import Log
from modeltest.consumer.stream import Stream
from modeltest.interface import CancelToken, Request
from modeltest.threads import KitThread, Pending, Worker, leave_copy, stack


class SyncStream(Stream):
    """A stream of a `Model`, read on a thread that no other stream uses meanwhile.

    Attributes:
        worker: the thread.
    """

    def __init__(
        self,
        worker: Worker,
        hand: SyncHand,
        deadline: float,
        when_over: Callable[[SyncStream], object],
    ) -> None:
        """Prepare, as for any `Stream`; `worker` runs the verbs."""
        super().__init__(hand, deadline, when_over)
        self._hand: SyncHand = hand
        self.worker = worker

    def cancel(self) -> BaseException | None:
        """Cancel the token; without one, close the stream as its consumer would.

        Returns:
            What the adapter's callback, or its `close()`, raised.

        Raises:
            Hang: it did not return.
        """
        if not self._hand.takes_token:
            return self.close()
        return self._beside("cancel", "cancel()").wait(self._deadline)

    @property
    def can_be_cancelled(self) -> bool:
        """Whether `stream` has a parameter `cancel`."""
        return self._hand.takes_token

    @property
    def token(self) -> CancelToken | None:
        """The token that `stream` was given; None after `drop`."""
        return self._hand.token

    @property
    def cancelled_by(self) -> None:
        """Nothing in particular: a token only asks."""

    @property
    def thread(self) -> threading.Thread:
        """The one that reads it."""
        return self.worker.thread

    def close_from_elsewhere(self) -> Pending:
        """Begin `close()` on one more thread."""
        return self._beside("close_only", "close() from another thread")

    def _beside(self, verb: str, name: str) -> Pending:
        """Begin a verb on a thread of its own: it may block where the reader does."""
        pending = Pending(name, lambda: stack(thread))
        thread = KitThread(_perform, self._hand, pending, verb, (), name="modeltest canceller")
        thread.start()
        return pending

    def _submit(self, pending: Pending, verb: str, args: tuple[Any, ...]) -> None:
        self.worker.do(functools.partial(_perform, self._hand, pending, verb, args))

    def _let_go(self) -> None:
        self.worker.do(self._hand.drop)

    def _frames(self) -> list[str]:
        return stack(self.thread)


class SyncHand(Hand):
    """The verbs: what an agent loop's own code would do."""

    def __init__(self, model: Any, request: Request, log: Log, token: CancelToken | None) -> None:
        """Prepare; `token` is handed to the model if there is one."""
        super().__init__(model, request, log)
        self.token = token
        self.takes_token = token is not None

    def open(self) -> None:
        """Ask for the stream."""
        extra = {} if self.token is None else {"cancel": self.token}
        self._hold(self._model.stream(self._request, **extra), "close", "__enter__")
        self.is_generator = inspect.isgenerator(self.stream)

    def take(self, count: int) -> None:
        """Take up to `count` events."""
        try:
            if self._iterator is None:
                self._iterator = iter(self.stream)
            for _ in range(count):
                try:
                    event = next(self._iterator)
                except StopIteration:
                    self.log.end()
                    return
                self.log.add(event)
        except BaseException as error:
            self.log.fail(error)
            self._iterator = None
            raise

    def drain(self) -> None:
        """Take events until the stream ends."""
        while not self.log.ended:
            self.take(64)

    def read(self) -> None:
        """Read a whole turn: open, drain, close, drop; the log has what failed."""
        try:
            self.open()
        except BaseException as error:
            self.log.fail(error)
            return
        self._step = "take"
        with contextlib.suppress(BaseException):
            self.drain()
        self._step = "close"
        with contextlib.suppress(BaseException):  # of close() only other checks judge
            if self.has_close:
                self.close()
        self._step = "drop"
        self.drop()

    def close(self) -> None:
        """Leave the loop, and close."""
        self._iterator = None
        self.stream.close()

    def close_only(self) -> None:
        """Close, while another thread may be in the loop."""
        self.stream.close()

    def cancel(self) -> None:
        """Cancel the token."""
        if self.token is not None:
            self.token.cancel()

    def drop(self) -> None:
        """Let go of the stream, and of the token, whose callbacks may know it."""
        self.token = None
        super().drop()

    def within(self, own_manager: bool, count: int, leave_by: str) -> None:  # noqa: FBT001 - a verb
        """Use the stream in a with-block."""
        manager = self.stream if own_manager else contextlib.closing(self.stream)
        with manager as stream:
            for event in stream:
                self.log.add(event)
                if len(self.log.events) == count:
                    break
            self._leave_block(leave_by)


def _perform(hand: Hand, pending: Pending, verb: str, args: tuple[Any, ...]) -> None:
    """Run one verb; whatever the adapter raises, even SystemExit, is its outcome."""
    try:
        getattr(hand, verb)(*args)
    except BaseException as error:
        pending.finish(hand.log.kept(error))
    else:
        leave_copy()
        pending.finish(None)
