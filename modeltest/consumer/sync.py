"""Driving a synchronous adapter, on a thread that can be left behind."""

from __future__ import annotations

import contextlib
import inspect
import queue
from collections.abc import Callable
from typing import Any

from modeltest.consumer.log import Log
from modeltest.consumer.pending import Pending
from modeltest.consumer.stacks import position, stack
from modeltest.consumer.stream import ConsumerError, Stream
from modeltest.consumer.threads import kit_thread, unwind
from modeltest.contract import CancelToken, Request


class SyncStream(Stream):
    """A stream of a `Model`, read on a thread of its own."""

    def __init__(self, model: Any, request: Request, deadline: float) -> None:
        super().__init__(deadline)
        self._token = CancelToken() if takes_cancel(model) else None
        self._hand = _Hand(model, request, self._token, self.log)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = kit_thread(_work, self._jobs, name="modeltest consumer")
        self._pending: Pending | None = None
        self._thread.start()

    def start(self, verb: str, *args: Any) -> Pending:
        """Begin a verb on the consumer's thread."""
        thread, hand, log = self._thread, self._hand, self.log
        pending = Pending(_NAMES.get(verb, verb), lambda: stack(thread.ident))
        self._pending = pending
        self._jobs.put(lambda: _perform(pending, log, lambda: getattr(hand, verb)(*args)))
        return pending

    def cancel(self) -> None:
        """Cancel the token; without one, close the stream as its consumer would."""
        if self._token is not None:
            self._token.cancel()
        else:
            self.close()

    @property
    def takes_token(self) -> bool:
        """Whether `stream` has a parameter `cancel`."""
        return self._token is not None

    @property
    def is_generator(self) -> bool:
        """Whether the stream is a generator."""
        return inspect.isgenerator(self._hand.stream)

    @property
    def has_close(self) -> bool:
        """Whether the stream has `close()`."""
        return callable(getattr(self._hand.stream, "close", None))

    @property
    def is_manager(self) -> bool:
        """Whether the stream has `__enter__`."""
        return hasattr(type(self._hand.stream), "__enter__")

    def position(self) -> object:
        """Return where the consumer's thread stands."""
        return position(self._thread.ident)

    def close_from_elsewhere(self) -> Pending:
        """Begin `close()` on one more thread."""
        hand, log = self._hand, self.log
        thread = kit_thread(
            lambda: _perform(pending, log, hand.close_only), name="modeltest canceller"
        )
        pending = Pending("close() from another thread", lambda: stack(thread.ident))
        thread.start()
        return pending

    def release(self) -> None:
        """End the consumer's thread, or ask it to end where it hangs."""
        self._jobs.put(self._hand.drop)
        self._jobs.put(None)
        if self._pending is not None and not self._pending.done:
            unwind(self._thread)
        else:
            self._thread.join(self._deadline)


_NAMES = {
    "open": "stream()",
    "take": "next()",
    "drain": "iterating to the end",
    "close": "close()",
    "within": "the with-block",
    "drop": "dropping the stream",
    "leave_loop": "leaving the loop",
}


class _Hand:
    """The verbs, run on the consumer's thread: what an agent loop's own code would do."""

    def __init__(self, model: Any, request: Request, token: CancelToken | None, log: Log) -> None:
        self.stream: Any = None
        self._iterator: Any = None
        self._model = model
        self._request = request
        self._token = token
        self._log = log

    def open(self) -> None:
        if self._token is None:
            self.stream = self._model.stream(self._request)
        else:
            self.stream = self._model.stream(self._request, cancel=self._token)

    def take(self, count: int) -> None:
        with self._logged():
            if self._iterator is None:
                self._iterator = iter(self.stream)
            for _ in range(count):
                try:
                    event = next(self._iterator)
                except StopIteration:
                    self._log.end()
                    return
                self._log.add(event)

    def drain(self) -> None:
        while not self._log.ended:
            self.take(64)

    def leave_loop(self) -> None:
        self._iterator = None

    def close(self) -> None:
        self._iterator = None
        self.stream.close()

    def close_only(self) -> None:
        self.stream.close()

    def drop(self) -> None:
        self._iterator = self.stream = None

    def within(
        self,
        own_manager: bool,  # noqa: FBT001 - called by name of the verb
        count: int,
        leave_by: str,
    ) -> None:
        manager = self.stream if own_manager else contextlib.closing(self.stream)
        with manager as stream:
            iterator = iter(stream)
            for _, event in zip(range(count), iterator, strict=False):
                self._log.add(event)
                if leave_by == "break" and len(self._log.events) == count:
                    break
            del iterator  # as `for … break` lets go of it
            if leave_by == "error":
                raise ConsumerError("the loop body raised")

    @contextlib.contextmanager
    def _logged(self) -> Any:
        try:
            yield
        except BaseException as error:
            self._log.fail(error)
            self._iterator = None
            raise


def takes_cancel(model: Any) -> bool:
    """Tell whether `model.stream` has a parameter named `cancel`."""
    try:
        return "cancel" in inspect.signature(model.stream).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def _work(jobs: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # else the last job would keep its stream alive until the next one comes


def _perform(pending: Pending, log: Log, action: Callable[[], None]) -> None:
    """Run one verb; whatever the adapter raises, even SystemExit, is its outcome."""
    try:
        action()
    except BaseException as error:
        pending.finish(log.kept(error))
    else:
        pending.finish(None)
