"""Where an adapter runs: on plain threads, or on an event loop. Checks know neither."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from modeltest.clock import now
from modeltest.consumer.asynchronous import AsyncHand, AsyncStream
from modeltest.consumer.log import Faults, Log
from modeltest.consumer.look import Look, look_at, takes_cancel
from modeltest.consumer.loop import Loop
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncHand, SyncStream
from modeltest.interface import CancelToken, Request
from modeltest.threads import Hang, Pending, Progress, Worker, leave_copy, outcome, stack, unwind

_MAKING = "new_model()"
_PATIENCE_AFTER_HANG = 0.3
"""Seconds in which all else may end once something hangs: that wait was long enough."""


class Consumer(ABC):
    """Makes a model and its streams, on the side where the adapter is used.

    Attributes:
        faults: what the streams gave that no answer holds.
        raised: what the adapter raised in `build`, to be told from what the caller's own thread
            is interrupted by.
    """

    _closers: ClassVar[tuple[str, ...]]
    """Methods that close a model, the first one that it has."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.raised: BaseException | None = None
        self._streams: dict[Stream, None] = {}  # those not released, and those that hang
        self._hung = False
        self._look: tuple[Any, Look] | None = None  # of the model that was looked at last

    def build(self, make: Callable[[], Any], deadline: float, operation: str = _MAKING) -> Any:
        """Return what `make()` gives, called where the adapter will run.

        Args:
            make: the author's.
            deadline: seconds that it may take.
            operation: what it is called in a `Hang`.

        Raises:
            Hang: it did not return within `deadline` seconds.

        Whatever `make` raises passes through.
        """
        made: list[Any] = []
        try:
            error = self._begin_build(make, made, operation).wait(deadline)
        except Hang:
            self._hung = True
            raise
        if error is not None:
            self.raised = error
            raise error
        return made[0]

    def look(self, model: Any, deadline: float) -> Look:
        """Return what can be told of `model` by looking at it; raises as `build` does."""
        look: Look = self.build(lambda: look_at(model), deadline, "looking up the model's stream")
        self._look = model, look
        return look

    def let_go(self, held: list[Any], deadline: float) -> None:
        """Close the model, if it can be closed, and empty `held`, which alone has it.

        Both are done where the adapter runs: it may have a `__del__`.

        Raises:
            Hang: one of them did not return.
        """
        self._look = None
        try:
            self.build(lambda: _close(held[0], self._closers), deadline, "closing the model")
        except BaseException as error:
            if error is not self.raised:
                raise  # a hang, or Ctrl-C; of what its close() raises nothing is required
        self.build(held.clear, deadline, "dropping the model")

    def stream(
        self, model: Any, request: Request, deadline: float, beside: Stream | None = None
    ) -> Stream:
        """Return a stream that is not opened yet.

        Args:
            model: is asked for it.
            request: what to ask.
            deadline: seconds that each operation may take.
            beside: a stream whose thread the new one shares, or its task's context.
        """
        stream = self._new_stream(model, request, deadline, beside)
        self._streams[stream] = None
        return stream

    @abstractmethod
    def reports(self) -> list[str]:
        """Return what the event loop's exception handler was told."""

    @abstractmethod
    def tasks(self) -> int:
        """Return how many tasks of the adapter are alive."""

    @property
    def littered(self) -> bool:
        """Whether something was left that spills when it is collected; known after `stop`."""
        return False

    def release(self) -> None:
        """Release the streams; what hangs is left behind."""
        for stream in tuple(self._streams):
            stream.release()

    def stop(self, timeout: float) -> None:
        """Release the streams, and end what the consumer started.

        It waits at most `timeout` seconds, fewer if the adapter hung; what hangs is left behind.
        """
        hung = self._hung or any(stream.hangs for stream in self._streams)
        self.release()
        self._end(min(timeout, _PATIENCE_AFTER_HANG) if hung else timeout)

    def _forget(self, stream: Stream) -> None:
        """Keep nothing of a stream that was released, unless it hangs."""
        if not stream.hangs:
            del self._streams[stream]

    @abstractmethod
    def _begin_build(
        self, make: Callable[[], Any], made: list[Any], operation: str = _MAKING
    ) -> Pending:
        """Begin to call `make()`; what it gives is put into `made`."""

    @abstractmethod
    def _new_stream(
        self, model: Any, request: Request, deadline: float, beside: Stream | None
    ) -> Stream:
        """Return a stream that is not opened yet."""

    @abstractmethod
    def _end(self, patience: float) -> None:
        """End the threads, waiting at most so many seconds."""


class SyncConsumer(Consumer):
    """Consumes a `Model`: streams that are used at the same time are so on different threads."""

    _closers = ("close",)  # a model for both sides has an aclose() too: nobody would await it

    def __init__(self) -> None:
        super().__init__()
        self._workers: list[Worker] = []
        self._idle: list[Worker] = []

    def reports(self) -> list[str]:
        """Return nothing: there is no loop."""
        return []

    def tasks(self) -> int:
        """Return 0: there is no loop."""
        return 0

    def _begin_build(
        self, make: Callable[[], Any], made: list[Any], operation: str = _MAKING
    ) -> Pending:
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
        if self._look is not None and self._look[0] is model:
            takes_token = self._look[1].takes_cancel
        else:
            takes_token = takes_cancel(model)
        token = CancelToken() if takes_token else None
        hand = SyncHand(model, request, Log(self.faults), token)
        worker = beside.worker if isinstance(beside, SyncStream) else self._worker()
        return SyncStream(worker, hand, deadline, self._reuse)

    def _reuse(self, stream: SyncStream) -> None:
        self._forget(stream)
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
        self._workers.append(Worker())
        return self._workers[-1]

    def _end(self, patience: float) -> None:
        until = now() + patience
        for worker in self._workers:
            worker.end()
        threads = [worker.thread for worker in self._workers]
        for thread in threads:
            thread.join(max(0.0, until - now()))
        unwind(*(thread for thread in threads if thread.is_alive()))


class AsyncConsumer(Consumer):
    """Consumes an `AsyncModel`: all streams on one event loop, each in a task of its own."""

    _closers = ("aclose", "close")

    def __init__(self) -> None:
        super().__init__()
        self._loop = Loop()

    def tick(self, ticks: Progress) -> None:
        """Count in `ticks`, every few milliseconds, for as long as the event loop goes round."""
        self._loop.call(lambda: self._loop.create_task(_tick(ticks)))

    def leave(self, timeout: float) -> None:
        """End as `asyncio.run()` does: the loop is closed, its connections are not.

        `stop` closes them. It waits at most so many seconds.
        """
        self.release()
        self._loop.close(timeout, keep_connections=True)

    def reports(self) -> list[str]:
        """Return what the loop's exception handler was told, and what stopped the loop."""
        self._loop.go_round()
        return list(self._loop.reports)

    def tasks(self) -> int:
        """Return how many tasks are alive on the loop, without the kit's own."""
        return len(self._loop.tasks())

    @property
    def littered(self) -> bool:
        """Whether a task refused to end: its coroutines are unwound when they are collected."""
        return self._loop.abandoned

    def _begin_build(
        self, make: Callable[[], Any], made: list[Any], operation: str = _MAKING
    ) -> Pending:
        async def build() -> None:
            await _make_async(make, made, pending)

        coroutine = build()
        pending = Pending(operation, lambda: self._loop.frames(coroutine))
        self._loop.call(self._loop.create_task, coroutine)
        return pending

    def _new_stream(
        self,
        model: Any,
        request: Request,
        deadline: float,
        beside: Stream | None,
    ) -> Stream:
        hand = AsyncHand(model, request, Log(self.faults))
        reader = beside if isinstance(beside, AsyncStream) else None
        return AsyncStream(self._loop, hand, deadline, self._forget, reader)

    def _end(self, patience: float) -> None:
        self._loop.close(patience)
        self._loop.drop_connections()


async def _tick(ticks: Progress) -> None:
    while True:
        ticks.advance()
        await asyncio.sleep(_TICK)


_TICK = 0.002
"""Seconds between two ticks."""


def _close(model: Any, closers: tuple[str, ...]) -> Any:
    """Call the first of these methods that the model has; a coroutine is left to be awaited."""
    for name in closers:
        close = getattr(model, name, None)
        if callable(close):
            return close()
    return None


async def _make_async(make: Callable[[], Any], made: list[Any], pending: Pending) -> None:
    try:
        model = make()
        made.append(await model if inspect.iscoroutine(model) else model)
    except BaseException as error:
        pending.finish(error)
    else:
        pending.finish(None)
