"""Driving an asynchronous adapter: each stream is owned by a task."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.consumer.consumer import MAKING, Consumer
from modeltest.consumer.handle import StreamHandle
from modeltest.consumer.log import Log
from modeltest.consumer.loop import Loop
from modeltest.consumer.stream import Stream
from modeltest.threads import Pending

if TYPE_CHECKING:
    from modeltest.consumer.hooks import AdapterHooks
    from modeltest.interface import Request
    from modeltest.threads import Progress


_Job = tuple[Pending, str, tuple[Any, ...]]


class AsyncStream(Stream):
    """A stream of an `AsyncModel`, owned by a task of its own.

    Attributes:
        context: what its context variables are kept in: that of the task that reads it.

    The owner does what the body of an `async with aclosing(stream)` would: when it is cancelled,
    in a verb or between two, it closes the stream and ends. Verbs begun later return the
    CancelledError at once.
    """

    def __init__(
        self,
        loop: Loop,
        handle: AsyncHandle,
        deadline: float,
        when_over: Callable[[AsyncStream], object],
        beside: AsyncStream | None = None,
    ) -> None:
        """Prepare, as for any `Stream`; `loop` runs the verbs, in the context of `beside`."""
        super().__init__(handle, deadline, when_over)
        own = contextvars.copy_context()
        self.context: contextvars.Context = own if beside is None else beside.context
        self._loop = loop
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._owner: asyncio.Task[None] | None = None
        self._current: Pending | None = None
        self._over = False
        self._outcome: BaseException = asyncio.CancelledError()
        loop.call(self._begin)

    def cancel(self) -> None:
        """Cancel the owning task, as `task.cancel()` does: it is not waited for."""
        self._loop.call(self._cancel_owner)

    @property
    def can_be_cancelled(self) -> bool:
        """Every task can be cancelled."""
        return True

    @property
    def token(self) -> None:
        """None: tasks are cancelled, not asked by a token."""

    @property
    def cancelled_by(self) -> type[BaseException]:
        """What `task.cancel()` raises in the task, and who awaits it has to see."""
        return asyncio.CancelledError

    @property
    def thread(self) -> threading.Thread:
        """The loop's, which all streams share."""
        return self._loop.thread

    def close_from_elsewhere(self) -> Pending:
        """Begin `aclose()` in another task."""
        pending = Pending("aclose() from another task", self._frames)
        self._loop.call(lambda: self._loop.create_task(self._close_beside(pending)))
        return pending

    def _begin_drop(self) -> None:
        """End the owning task, by cancelling it where it hangs."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call(self._jobs.put_nowait, None)
            if self.hangs:
                self.cancel()

    def _submit(self, pending: Pending, verb: str, args: tuple[Any, ...]) -> None:
        self._loop.call(self._take_job, (pending, verb, args))

    def _frames(self) -> list[str]:
        return self._loop.frames(None if self._owner is None else self._owner.get_coro())

    # What follows runs on the loop.

    def _begin(self) -> None:
        self._owner = self._loop.create_task(self._own(), self.context)
        # Not in a `finally`: a task that is cancelled before it begins runs none of its code.
        self._owner.add_done_callback(self._end)

    def _take_job(self, job: _Job) -> None:
        if self._over:
            job[0].finish(self._outcome)
        else:
            self._jobs.put_nowait(job)

    def _cancel_owner(self) -> None:
        assert self._owner is not None, "_begin was called first"
        self._owner.cancel()

    async def _own(self) -> None:
        """Own the stream, as the task that reads it does."""
        try:
            await self._serve()
        except GeneratorExit:  # the loop is gone: nothing may be awaited any more
            raise
        except BaseException as error:  # only a cancelled owner lets one out
            self._outcome = self.log.kept(error)
            await self._close()
        finally:
            self._handle.drop()

    async def _serve(self) -> None:
        """Run the verbs one after the other, until there are no more."""
        while not self._loop.closing and (job := await self._jobs.get()) is not None:
            self._current, verb, args = job
            try:
                await _call(self._handle, verb, args)
            except BaseException as error:
                if self._owner is not None and self._owner.cancelling():
                    raise
                self._current.finish(self.log.kept(error))
            else:
                self._current.finish(None)

    async def _close(self) -> None:
        """Close the stream after a cancellation; what that raises comes out instead of it."""
        try:
            if self._handle.has_close:
                await _call(self._handle, "close", ())
        except Exception as error:
            self._outcome = self.log.kept(error)

    def _end(self, owner: asyncio.Task[None]) -> None:  # noqa: ARG002 - a callback's signature
        """Let all that still waits come back."""
        self._over = True
        unfinished = [] if self._current is None else [self._current]
        while not self._jobs.empty():
            job = self._jobs.get_nowait()
            unfinished += [] if job is None else [job[0]]
        for pending in unfinished:
            if not pending.done:
                pending.finish(self._outcome)

    async def _close_beside(self, pending: Pending) -> None:
        try:
            await _call(self._handle, "close_only", ())
        except BaseException as error:
            pending.finish(self.log.kept(error))
        else:
            pending.finish(None)


class AsyncHandle(StreamHandle):
    """The verbs, run inside the owning task; the twin of the synchronous ones."""

    NAMES: ClassVar[dict[str, str]] = StreamHandle.NAMES | {
        "take": "anext()",
        "close": "aclose()",
        "within": "the async with-block",
    }

    async def open(self) -> None:
        """Ask for the stream."""
        stream = self._hooks.begin(self._model, self._request)
        if inspect.isawaitable(stream):
            stream = await stream
        self._hold(stream, "aclose", "__aenter__")
        self.is_generator = inspect.isasyncgen(stream)

    async def take(self, count: int) -> None:
        """Take up to `count` events."""
        try:
            if self._iterator is None:
                self._iterator = aiter(self.stream)
            while count > 0:
                if self._waiting:
                    count = self._take_waiting(count)
                    continue
                try:
                    event = await anext(self._iterator)
                except StopAsyncIteration:
                    self.log.end()
                    return
                count -= self._receive(event)
        except BaseException as error:
            self.log.fail(error)
            self._iterator = None
            raise

    async def drain(self) -> None:
        """Take events until the stream ends."""
        while not self.log.ended:
            await self.take(64)

    async def read(self) -> None:
        """Read a whole turn: open, drain, close, drop; the log has what failed."""
        try:
            await self.open()
        except BaseException as error:
            self.log.fail(error)
            _unless_cancelled()
            return
        self._step = "take"
        try:
            await self.drain()
        except BaseException:
            _unless_cancelled()
        self._step = "close"
        try:
            if self.has_close:  # of aclose() only other checks judge
                await self.close()
        except BaseException:
            _unless_cancelled()
        self._step = "drop"
        self.drop()

    async def close(self) -> None:
        """Leave the loop, and close."""
        self._iterator = None
        await self.stream.aclose()

    async def close_only(self) -> None:
        """Close, while another task may be in the loop."""
        await self.stream.aclose()

    async def within(self, own_manager: bool, count: int, leave_by: str) -> None:  # noqa: FBT001 - a verb
        """Use the stream in a with-block."""
        manager = self.stream if own_manager else contextlib.aclosing(self.stream)
        async with manager as stream:
            async for event in stream:
                count = self._take_waiting(count - self._receive(event))
                if count == 0:
                    break
            self._leave_block(leave_by)


def _unless_cancelled() -> None:
    """Raise the error that is being handled if the owning task was cancelled from outside."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise  # noqa: PLE0704 - inside an `except` of the caller


async def _call(handle: StreamHandle, verb: str, args: tuple[Any, ...]) -> None:
    """Run one verb; those that have nothing to wait for are no coroutines."""
    result = getattr(handle, verb)(*args)
    if inspect.isawaitable(result):
        await result


class AsyncConsumer(Consumer):
    """Consumes an `AsyncModel`: all streams on one event loop, each in a task of its own."""

    runs_on_event_loop = True

    _closers = ("aclose", "close")

    def __init__(self, hooks: AdapterHooks | None = None) -> None:
        """Start the loop."""
        super().__init__(hooks)
        self._loop = Loop()

    def tick(self, ticks: Progress) -> None:
        """Count in `ticks`, every few milliseconds, for as long as the event loop goes round."""
        self._loop.call(lambda: self._loop.create_task(_tick(ticks)))

    def close_loop(self, timeout: float) -> None:
        """End as `asyncio.run()` does: the loop is closed, its connections are not.

        `stop` closes them. It waits at most so many seconds.
        """
        self.drop_streams()
        self._loop.close(timeout, keep_connections=True)

    def reports(self) -> list[str]:
        """Return what the loop's exception handler was given, and what stopped the loop."""
        self._loop.go_round()
        return list(self._loop.reports)

    def tasks(self) -> int:
        """Return how many tasks are alive on the loop, without the kit's own."""
        return len(self._loop.tasks())

    @property
    def leaves_garbage(self) -> bool:
        """Whether a task refused to end: its coroutines are unwound when they are collected."""
        return self._loop.abandoned

    def begin_build(
        self, make: Callable[[], Any], made: list[Any], operation: str = MAKING
    ) -> Pending:
        """Begin to call `make()`; what it gives is put into `made`."""

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
        handle = AsyncHandle(model, request, Log(self.faults), self.hooks)
        reader = beside if isinstance(beside, AsyncStream) else None
        return AsyncStream(self._loop, handle, deadline, self._drop, reader)

    def _end(self, patience: float) -> None:
        self._loop.close(patience)
        self._loop.drop_connections()


async def _tick(ticks: Progress) -> None:
    while True:
        ticks.advance()
        await asyncio.sleep(_TICK)


_TICK = 0.002
"""Seconds between two ticks."""


async def _make_async(make: Callable[[], Any], made: list[Any], pending: Pending) -> None:
    try:
        model = make()
        made.append(await model if inspect.iscoroutine(model) else model)
    except BaseException as error:
        pending.finish(error)
    else:
        pending.finish(None)
