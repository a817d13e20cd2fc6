"""An event loop on a thread of its own, which runs while the test waits."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import math
import threading
import traceback
import weakref
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from modeltest.threads import KitThread, awaits, leave_copy, stack, unwind

_Tasks = set[asyncio.Task[Any]]

_MOMENT = 0.5
"""Seconds; a loop that is not blocked goes round in microseconds."""


class Loop:
    """The event loop on which an asynchronous adapter runs.

    It keeps running whatever the adapter does to it: stops it, or lets SystemExit out of a task.

    Attributes:
        loop: the loop.
        thread: its thread.
        reports: what its exception handler was given, as text.
        closing: whether it is being closed.
        abandoned: whether a task refused to end.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_exception_handler(self._report)
        # Python's debug mode would log each callback that takes long on a busy machine.
        self.loop.slow_callback_duration = math.inf
        self.reports: list[str] = []
        self.closing = self.abandoned = self._broken = False
        self._patience = 0.0
        self._keeps_connections = False
        self._kept: list[Any] = []
        self._stopped = threading.Event()
        self._own: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self.thread = KitThread(self._run, name="modeltest event loop")
        # The child's loop takes its events from the same place as ours: it must not go on.
        self.thread.when_forked = functools.partial(self.loop.call_soon, leave_copy)
        self.thread.start()

    def call(self, function: Callable[..., object], *args: Any) -> None:
        """Call `function(*args)` on the loop soon.

        Raises:
            RuntimeError: the loop is closed.
        """
        self.loop.call_soon_threadsafe(function, *args)

    def go_round(self) -> None:
        """Wait until the loop has gone round twice, so that what stopped it has been noted.

        A loop that is blocked is waited for a moment only.
        """
        for _ in range(2):
            done = threading.Event()
            with contextlib.suppress(RuntimeError):  # it is closed
                self.call(done.set)
                done.wait(_MOMENT)

    def create_task(
        self, coroutine: Coroutine[Any, Any, None], context: contextvars.Context | None = None
    ) -> asyncio.Task[None]:
        """Return a task of the kit's; to be called on the loop."""
        task = self.loop.create_task(coroutine, context=context)
        self._own.add(task)
        return task

    def tasks(self) -> _Tasks:
        """Return the tasks alive on the loop, without the kit's."""
        return asyncio.all_tasks(self.loop) - set(self._own)

    def frames(self, awaiting: Any) -> list[str]:
        """Return where the loop's thread is if a task keeps it, else what `awaiting` waits at."""
        running = asyncio.current_task(self.loop) is not None
        return stack(self.thread) if running else awaits(awaiting)

    def close(self, patience: float, *, keep_connections: bool = False) -> None:
        """Cancel what is left, finish async generators, end the thread.

        A loop that the adapter blocks for `patience` seconds is left behind, and so is a task
        that does not end within as many more.

        Args:
            patience: seconds.
            keep_connections: leave them as `asyncio.run()` does, open and served by nobody,
                until `drop_connections`.
        """
        self.closing, self._patience = True, patience
        self._keeps_connections = keep_connections
        with contextlib.suppress(RuntimeError):  # closed already
            self.loop.call_soon_threadsafe(self.loop.stop)
        if self._stopped.wait(patience) or unwind(self.thread):
            # Longer than the winding up may take, so as not to break into it.
            self.thread.join(2 * patience)
            if self.thread.is_alive():
                unwind(self.thread)

    def drop_connections(self) -> None:
        """Close the sockets of the connections that `close` has kept."""
        for transport in self._kept:
            # A report of its end belongs to the adapter, and finds no loop.
            with contextlib.suppress(Exception):
                transport._call_connection_lost(None)
        self._kept.clear()

    def _run(self) -> None:
        try:
            while not (self.closing or self._broken):
                if self._go_on(self.loop.run_forever) and not self.closing:
                    self.reports.append("the event loop was stopped by its stop()")
            self._stopped.set()
            self._go_on(lambda: self.loop.run_until_complete(self._wind_up(self._patience / 6)))
        finally:
            # It ends idle threads of its executor too. To wait for them (as
            # shutdown_default_executor() does) could take for ever.
            with contextlib.suppress(OSError):  # someone has closed what it closes
                self.loop.close()

    def _go_on(self, run: Callable[[], None]) -> bool:
        """Run the loop; return whether it was not an exception that stopped it."""
        try:
            run()
        except BaseException as error:  # asyncio lets SystemExit and KeyboardInterrupt out
            self.reports.append(f"the event loop was stopped by {_shown(error)}")
            # Any other is the loop's own, such as a selector that someone closed: it would
            # come again and again.
            self._broken |= isinstance(error, Exception)
            return False
        return True

    async def _wind_up(self, patience: float) -> None:
        """Bring all tasks to their end; each of five steps may take `patience` seconds."""
        await _let_generators_close(patience)
        # Twice, for a task may take the first time for something else.
        for _ in range(2):
            tasks = _others()
            for task in tasks:
                task.cancel()
            await _wait(tasks, patience)
        await _wait({self.create_task(self.loop.shutdown_asyncgens())}, patience)
        await _let_generators_close(patience)
        for task in _others():
            self.abandoned = True
            _abandon(task)
        await self._abort_transports()

    async def _abort_transports(self) -> None:
        """Close the sockets that the adapter left open, as the checks have seen by now.

        Otherwise they warn when they are collected, in some later test.
        """
        transports: Mapping[int, asyncio.Transport] = getattr(self.loop, "_transports", {})
        if self._keeps_connections:
            self._kept += transports.values()
            return
        for transport in tuple(transports.values()):
            transport.abort()
        await asyncio.sleep(0)  # they close in a callback

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG002
        error = context.get("exception")
        detail = "" if error is None else f": {_shown(error)}"
        self.reports.append(f"{context['message']}{detail}")


def _others() -> _Tasks:
    return asyncio.all_tasks() - {asyncio.current_task()}


async def _let_generators_close(seconds: float) -> None:
    """Wait for the tasks in which asyncio closes async generators that were dropped.

    Cancelled midway, a generator would stay half closed, and spill when it is collected.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        await asyncio.sleep(0)  # who drops a generator may be about to do so
        closing = set(filter(_closes_a_generator, _others()))
        if not closing or loop.time() > until:
            return
        await _wait(closing, until - loop.time())


def _closes_a_generator(task: asyncio.Task[Any]) -> bool:
    # CPython's type of what aclose() gives has no other name.
    return type(task.get_coro()).__name__ == "async_generator_athrow"


async def _wait(tasks: _Tasks, seconds: float) -> None:
    """Wait for tasks, at most so many seconds."""
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)


def _abandon(task: asyncio.Task[Any]) -> None:
    """Unwind a task that refuses to be cancelled, as far as it lets us.

    Otherwise its frames would be unwound whenever it is collected, in some later test.
    """
    with contextlib.suppress(BaseException):
        task.get_coro().close()


def _shown(error: BaseException) -> str:
    """Return an error's type and text, even if its `str` raises."""
    return traceback.format_exception_only(error)[-1].strip()
