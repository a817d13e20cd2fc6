"""Where an adapter runs: on plain threads, or on an event loop. Checks know neither."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from modeltest.consumer.adapter_info import look_at
from modeltest.consumer.faults import Faults
from modeltest.consumer.hooks import AdapterHooks
from modeltest.threads import Hang

if TYPE_CHECKING:
    from modeltest.consumer.adapter_info import AdapterInfo
    from modeltest.consumer.stream import Stream
    from modeltest.interface import Request
    from modeltest.threads import Pending, Progress


MAKING = "new_model()"
"""What making a model is called in a `Hang`."""
_PATIENCE_AFTER_HANG = 0.3
"""Seconds in which all else may end once something hangs: that wait was long enough."""


class Consumer(ABC):
    """Makes a model and its streams, on the side where the adapter is used.

    Attributes:
        runs_on_event_loop: whether the adapter runs on an event loop, which then has a `tick`, and
            a `close_loop`.
        hooks: how streams are begun and their events read.
        faults: what the streams gave that no answer holds.
        raised: what the adapter raised in `build`, kept apart from what the caller's own thread
            is interrupted by.
    """

    runs_on_event_loop: ClassVar[bool] = False

    _closers: ClassVar[tuple[str, ...]]
    """Methods that close a model, the first one that it has."""

    def __init__(self, hooks: AdapterHooks | None = None) -> None:
        """Prepare, with the test case's `hooks` if it has any."""
        self.hooks = hooks or AdapterHooks()
        self.faults = Faults()
        self.raised: BaseException | None = None
        self._streams: dict[Stream, None] = {}  # those not dropped, and those that hang
        self._hung = False
        self._info: tuple[Any, AdapterInfo] | None = None  # of the model that was looked at last

    def build(self, make: Callable[[], Any], deadline: float, operation: str = MAKING) -> Any:
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
            error = self.begin_build(make, made, operation).wait(deadline)
        except Hang:
            self._hung = True
            raise
        if error is not None:
            self.raised = error
            raise error
        return made[0]

    def look_at(self, model: Any, deadline: float) -> AdapterInfo:
        """Return what `model` shows of itself; raises as `build` does."""
        info: AdapterInfo = self.build(
            lambda: look_at(model, self.hooks), deadline, "looking up the model's stream"
        )
        self._info = model, info
        return info

    def close_model(self, held: list[Any], deadline: float) -> None:
        """Close the model, if it can be closed, and drop it: empty `held`, which alone has it.

        Both are done where the adapter runs: it may have a `__del__`.

        Raises:
            Hang: one of them did not return.
        """
        self._info = None
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

    def tick(self, ticks: Progress) -> None:
        """Count in `ticks`, every few milliseconds, for as long as the event loop goes round."""
        raise NotImplementedError("it runs on no event loop")

    def close_loop(self, timeout: float) -> None:
        """End as `asyncio.run()` does: the loop is closed, its connections are not.

        `stop` closes them. It waits at most so many seconds.
        """
        raise NotImplementedError("it runs on no event loop")

    @abstractmethod
    def reports(self) -> list[str]:
        """Return what the event loop's exception handler was given."""

    @abstractmethod
    def tasks(self) -> int:
        """Return how many tasks of the adapter are alive."""

    @property
    def leaves_garbage(self) -> bool:
        """Whether something was left that spills when it is collected; known after `stop`."""
        return False

    def drop_streams(self) -> None:
        """Drop the streams; what hangs is left behind."""
        for stream in tuple(self._streams):
            stream.drop_soon()

    def stop(self, timeout: float) -> None:
        """Drop the streams, and end what the consumer started.

        It waits at most `timeout` seconds, fewer if the adapter hung; what hangs is left behind.
        """
        hung = self._hung or any(stream.hangs for stream in self._streams)
        self.drop_streams()
        self._end(min(timeout, _PATIENCE_AFTER_HANG) if hung else timeout)

    def _drop(self, stream: Stream) -> None:
        """Keep nothing of a stream that was dropped, unless it hangs."""
        if not stream.hangs:
            del self._streams[stream]

    @abstractmethod
    def begin_build(
        self, make: Callable[[], Any], made: list[Any], operation: str = MAKING
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


def _close(model: Any, closers: tuple[str, ...]) -> Any:
    """Call the first of these methods that the model has; a coroutine is left to be awaited."""
    for name in closers:
        close = getattr(model, name, None)
        if callable(close):
            return close()
    return None
