"""Driving a synchronous adapter, on a thread that can be left behind."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from modeltest.clock import now
from modeltest.consumer.adapter_info import takes_cancel
from modeltest.consumer.consumer import MAKING, Consumer
from modeltest.consumer.handle import StreamHandle
from modeltest.consumer.log import Log
from modeltest.consumer.stream import Stream
from modeltest.interface import CancelToken
from modeltest.threads import KitThread, Pending, Worker, leave_copy, outcome, stack, unwind

if TYPE_CHECKING:
    from modeltest.consumer.hooks import AdapterHooks
    from modeltest.interface import Request


class SyncStream(Stream):
    """A stream of a `Model`, read on a thread that no other stream uses meanwhile.

    Attributes:
        worker: the thread.
    """

    def __init__(
        self,
        worker: Worker,
        handle: SyncHandle,
        deadline: float,
        when_over: Callable[[SyncStream], object],
    ) -> None:
        """Prepare, as for any `Stream`; `worker` runs the verbs."""
        super().__init__(handle, deadline, when_over)
        self._handle: SyncHandle = handle
        self.worker = worker

    def cancel(self) -> BaseException | None:
        """Cancel the token; without one, close the stream as its consumer would.

        Returns:
            What the adapter's callback, or its `close()`, raised.

        Raises:
            Hang: it did not return.
        """
        if not self._handle.takes_token:
            return self.close()
        return self._beside("cancel", "cancel()").wait(self.deadline)

    @property
    def can_be_cancelled(self) -> bool:
        """Whether `stream` has a parameter `cancel`."""
        return self._handle.takes_token

    @property
    def token(self) -> CancelToken | None:
        """The token that `stream` was given; None after `drop`."""
        return self._handle.token

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
        thread = KitThread(_perform, self._handle, pending, verb, (), name="modeltest canceller")
        thread.start()
        return pending

    def _submit(self, pending: Pending, verb: str, args: tuple[Any, ...]) -> None:
        self.worker.do(functools.partial(_perform, self._handle, pending, verb, args))

    def _begin_drop(self) -> None:
        self.worker.do(self._handle.drop)

    def _frames(self) -> list[str]:
        return stack(self.thread)


class SyncHandle(StreamHandle):
    """The verbs: what an agent loop's own code would do."""

    def __init__(
        self,
        model: Any,
        request: Request,
        log: Log,
        hooks: AdapterHooks,
        token: CancelToken | None,
    ) -> None:
        """Prepare; `token` is given to the model if there is one."""
        super().__init__(model, request, log, hooks)
        self.token = token
        self.takes_token = token is not None

    def open(self) -> None:
        """Ask for the stream."""
        stream = self._hooks.begin(self._model, self._request, self.token)
        self._hold(stream, "close", "__enter__")
        self.is_generator = inspect.isgenerator(self.stream)

    def take(self, count: int) -> None:
        """Take up to `count` events."""
        try:
            if self._iterator is None:
                self._iterator = iter(self.stream)
            while count > 0:
                if self._waiting:
                    count = self._take_waiting(count)
                    continue
                try:
                    event = next(self._iterator)
                except StopIteration:
                    self.log.end()
                    return
                count -= self._receive(event)
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
        """Drop the stream, and the token, whose callbacks may know it."""
        self.token = None
        super().drop()

    def within(self, own_manager: bool, count: int, leave_by: str) -> None:  # noqa: FBT001 - a verb
        """Use the stream in a with-block."""
        manager = self.stream if own_manager else contextlib.closing(self.stream)
        with manager as stream:
            for event in stream:
                count = self._take_waiting(count - self._receive(event))
                if count == 0:
                    break
            self._leave_block(leave_by)


class SyncConsumer(Consumer):
    """Consumes a `Model`: streams that are used at the same time are so on different threads.

    Attributes:
        workers: the threads, those that are idle included.
    """

    _closers = ("close",)  # a model for both sides has an aclose() too: nobody would await it

    def __init__(self, hooks: AdapterHooks | None = None) -> None:
        """Prepare; no thread is started yet."""
        super().__init__(hooks)
        self.workers: list[Worker] = []
        self._idle: list[Worker] = []

    def reports(self) -> list[str]:
        """Return nothing: there is no loop."""
        return []

    def tasks(self) -> int:
        """Return 0: there is no loop."""
        return 0

    def begin_build(
        self, make: Callable[[], Any], made: list[Any], operation: str = MAKING
    ) -> Pending:
        """Begin to call `make()`; what it gives is put into `made`."""
        worker = self._worker()
        pending = Pending(operation, lambda: stack(worker.thread))

        def build() -> None:
            error = outcome(make, made)
            leave_copy()
            self._idle.append(worker)
            pending.finish(error)

        worker.do(build)
        return pending

    def _new_stream(
        self, model: Any, request: Request, deadline: float, beside: Stream | None
    ) -> Stream:
        token = CancelToken() if self._takes_cancel(model) else None
        handle = SyncHandle(model, request, Log(self.faults), self.hooks, token)
        worker = beside.worker if isinstance(beside, SyncStream) else self._worker()
        return SyncStream(worker, handle, deadline, self._reuse)

    def _takes_cancel(self, model: Any) -> bool:
        if self._info is not None and self._info[0] is model:
            return self._info[1].takes_cancel
        return takes_cancel(model, self.hooks)

    def _reuse(self, stream: SyncStream) -> None:
        self._drop(stream)
        if stream.hangs:
            return  # nothing that comes after it would ever run
        others = (other for other in self._streams if isinstance(other, SyncStream))
        if all(other.worker is not stream.worker for other in others):
            self._idle.append(stream.worker)

    def _worker(self) -> Worker:
        """Return one that nothing else uses: to start a thread costs as much as a small answer.

        An idle one may have jobs left, which come first: what hangs is not taken for idle.
        """
        if self._idle:
            return self._idle.pop()
        self.workers.append(Worker())
        return self.workers[-1]

    def _end(self, patience: float) -> None:
        until = now() + patience
        for worker in self.workers:
            worker.end()
        threads = [worker.thread for worker in self.workers]
        for thread in threads:
            thread.join(max(0.0, until - now()))
        unwind(*(thread for thread in threads if thread.is_alive()))


def _perform(handle: StreamHandle, pending: Pending, verb: str, args: tuple[Any, ...]) -> None:
    """Run one verb; whatever the adapter raises, even SystemExit, is its outcome."""
    try:
        getattr(handle, verb)(*args)
    except BaseException as error:
        pending.finish(handle.log.kept(error))
    else:
        leave_copy()
        pending.finish(None)
