"""Driving an asynchronous adapter: a loop on its own thread, a task that owns each stream."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import Any

from modeltest.consumer.log import Log
from modeltest.consumer.pending import Pending
from modeltest.consumer.stacks import position, stack
from modeltest.consumer.stream import ConsumerError, Stream
from modeltest.consumer.threads import kit_thread, unwind
from modeltest.contract import Request


class Loop:
    """An event loop that goes on running while the test waits.

    Attributes:
        loop: the loop.
        reports: what its exception handler was told, as text.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.reports: list[str] = []
        self.loop.set_exception_handler(self._report)
        self._thread = kit_thread(self._run, name="modeltest event loop")
        self._thread.start()

    @property
    def ident(self) -> int | None:
        """The loop's thread."""
        return self._thread.ident

    def frames(self) -> list[str]:
        """Return the stack of the loop's thread."""
        return stack(self.ident)

    def tasks(self) -> set[asyncio.Task[Any]]:
        """Return the tasks alive on the loop."""
        return asyncio.all_tasks(self.loop)

    def close(self, timeout: float) -> None:
        """Cancel what is left, finish async generators, end the thread."""
        with contextlib.suppress(RuntimeError):  # closed already
            ending = asyncio.run_coroutine_threadsafe(self._wind_up(), self.loop)
            with contextlib.suppress(Exception):
                ending.result(timeout)
            self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout)
        if self._thread.is_alive():
            unwind(self._thread)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    async def _wind_up(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.loop.shutdown_asyncgens()

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG002
        error = context.get("exception")
        detail = f": {error!r}" if error is not None else ""
        self.reports.append(f"{context['message']}{detail}")


class AsyncStream(Stream):
    """A stream of an `AsyncModel`, owned by a task of its own."""

    def __init__(self, loop: Loop, model: Any, request: Request, deadline: float) -> None:
        super().__init__(deadline)
        self._loop = loop
        self._hand = _AsyncHand(model, request, self.log)
        self._jobs: asyncio.Queue[tuple[Pending, str, tuple[Any, ...]] | None] = asyncio.Queue()
        self._task = self._on_loop(self._own())

    def start(self, verb: str, *args: Any) -> Pending:
        """Begin a verb inside the owning task."""
        pending = Pending(_ASYNC_NAMES.get(verb, verb), self._loop.frames)
        self._loop.loop.call_soon_threadsafe(self._jobs.put_nowait, (pending, verb, args))
        return pending

    def cancel(self) -> None:
        """Cancel the owning task."""
        self._loop.loop.call_soon_threadsafe(self._task.cancel)

    @property
    def takes_token(self) -> bool:
        """Every task can be cancelled."""
        return True

    @property
    def is_generator(self) -> bool:
        """Whether the stream is an async generator."""
        return inspect.isasyncgen(self._hand.stream)

    @property
    def has_close(self) -> bool:
        """Whether the stream has `aclose()`."""
        return callable(getattr(self._hand.stream, "aclose", None))

    @property
    def is_manager(self) -> bool:
        """Whether the stream has `__aenter__`."""
        return hasattr(type(self._hand.stream), "__aenter__")

    def position(self) -> object:
        """Return where the loop's thread stands."""
        return position(self._loop.ident)

    def close_from_elsewhere(self) -> Pending:
        """Begin `aclose()` in another task."""
        pending = Pending("aclose() from another task", self._loop.frames)
        self._on_loop(_perform(pending, self.log, self._hand.close_only()))
        return pending

    def release(self) -> None:
        """End the owning task."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.loop.call_soon_threadsafe(self._jobs.put_nowait, None)

    def _on_loop(self, coroutine: Any) -> asyncio.Task[None]:
        async def make() -> asyncio.Task[None]:
            return self._loop.loop.create_task(coroutine)

        made = asyncio.run_coroutine_threadsafe(make(), self._loop.loop)
        return made.result(self._deadline)

    async def _own(self) -> None:
        """Run the verbs one after the other, as the body of the task that owns the stream."""
        try:
            while (job := await self._jobs.get()) is not None:
                pending, verb, args = job
                await _perform(pending, self.log, getattr(self._hand, verb)(*args))
                del job, pending
        except asyncio.CancelledError:
            # Cancelled between two verbs: the owner's `async with aclosing(stream)` closes it.
            if self._hand.stream is not None and self.has_close:
                await self._hand.close()
            await self._hand.drop()
            raise


_ASYNC_NAMES = {
    "open": "stream()",
    "take": "anext()",
    "drain": "iterating to the end",
    "close": "aclose()",
    "within": "the async with-block",
    "drop": "dropping the stream",
    "leave_loop": "leaving the loop",
}


class _AsyncHand:
    """The verbs, run inside the owning task; the twin of the synchronous ones."""

    def __init__(self, model: Any, request: Request, log: Log) -> None:
        self.stream: Any = None
        self._iterator: Any = None
        self._model = model
        self._request = request
        self._log = log

    async def open(self) -> None:
        self.stream = self._model.stream(self._request)
        if inspect.isawaitable(self.stream):
            self.stream = await self.stream

    async def take(self, count: int) -> None:
        try:
            if self._iterator is None:
                self._iterator = aiter(self.stream)
            for _ in range(count):
                try:
                    event = await anext(self._iterator)
                except StopAsyncIteration:
                    self._log.end()
                    return
                self._log.add(event)
        except BaseException as error:
            self._log.fail(error)
            self._iterator = None
            raise

    async def drain(self) -> None:
        while not self._log.ended:
            await self.take(64)

    async def leave_loop(self) -> None:
        self._iterator = None

    async def close(self) -> None:
        self._iterator = None
        await self.stream.aclose()

    async def close_only(self) -> None:
        await self.stream.aclose()

    async def drop(self) -> None:
        self._iterator = self.stream = None

    async def within(
        self,
        own_manager: bool,  # noqa: FBT001 - called by name of the verb
        count: int,
        leave_by: str,
    ) -> None:
        manager = self.stream if own_manager else contextlib.aclosing(self.stream)
        async with manager as stream:
            async for event in stream:
                self._log.add(event)
                if len(self._log.events) == count:
                    break
            if leave_by == "error":
                raise ConsumerError("the loop body raised")


async def _perform(pending: Pending, log: Log, action: Any) -> None:
    """Run one verb; whatever the adapter raises, even CancelledError, is its outcome."""
    try:
        await action
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        pending.finish(log.kept(error))
    except BaseException as error:
        pending.finish(log.kept(error))
    else:
        pending.finish(None)
