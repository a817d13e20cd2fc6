"""One set-up of an adapter against the backend, and the questions a check asks of it."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from modeltest.clock import now, pause
from modeltest.harness import Answer, Evidence, Failure, SetUpError, count, size
from modeltest.threads import ending_of, is_adapter_thread, other_threads, shown, waits_at

if TYPE_CHECKING:
    from modeltest.backend import Backend, Exchange
    from modeltest.consumer import AdapterInfo, Consumer, Log, Stream
    from modeltest.delivery.leaks import Leaks
    from modeltest.delivery.target import Target
    from modeltest.encoding import Body
    from modeltest.harness import ErrorTypes
    from modeltest.interface import Request
    from modeltest.threads import Progress
    from modeltest.transports import Ledger


_LOOKS = 25
"""Looks, 2 ms apart at least, at which a thread has not moved. Each one needs the kit's own
thread to be scheduled, so that on a loaded machine the adapter's threads had their turns."""

_REST = 0.5
"""Seconds that threads may take to come to rest."""


class Scenario:
    """A fresh backend, client, ledger and model.

    Attributes:
        target: the adapter under test.
        backend: the server it talks to.
        ledger: the client's connections.
        adapter_info: what the adapter shows of itself: its methods and their signatures.
    """

    consumer: Consumer
    adapter_info: AdapterInfo

    def __init__(
        self,
        target: Target,
        backend: Backend,
        ledger: Ledger,
        leaks: Leaks,
        cleanup: ExitStack,
    ) -> None:
        self.target = target
        self.backend = backend
        self.ledger = ledger
        self._leaks = leaks
        self._cleanup = cleanup
        self._threads = other_threads()
        self._model: list[Any] = []

    def set_up(self) -> None:
        """Make the client and the model, and have a look at it.

        Raises:
            SetUpError: the author's `new_model` raised, or gave something without `stream`.
            Hang: it did not return.
        """
        target, url = self.target, self.backend.url
        client = self._cleanup.enter_context(target.transport.client(self.ledger))
        self.consumer = target.new_consumer()
        self._cleanup.callback(self._stop_consumer)
        # Runs before the others at the end: a reader that waits for the backend comes back.
        self._cleanup.callback(self.backend.stop)
        self._cleanup.callback(self.consumer.drop_streams)
        made = self._built(
            lambda: self.consumer.build(lambda: target.new_model(url, client), target.deadline),
            f"new_model({url!r}, client)",
        )
        self._model.append(made)
        self.adapter_info = self._built(
            lambda: self.consumer.look_at(made, target.deadline), "looking up the adapter's stream"
        )
        if not self.adapter_info.can_stream:
            raise SetUpError(
                f"new_model gave {self.adapter_info.model}: expected an adapter with a method "
                "stream(request), or a test case with open_stream(model, request)"
            )

    def _built(self, build: Callable[[], Any], what: str) -> Any:
        try:
            return build()
        except BaseException as error:
            if error is not self.consumer.raised:
                raise  # a hang, or Ctrl-C
            raise SetUpError(f"{what} raised {shown(error)}") from error

    @property
    def model(self) -> Any:
        """The adapter; until `drop_model`."""
        return self._model[0]

    @property
    def model_error(self) -> ErrorTypes:
        """The exception type, or types, by which a turn may fail."""
        return self.target.model_error

    @property
    def package(self) -> str:
        """The top-level package that the adapter comes from."""
        return type(self.model).__module__.partition(".")[0]

    @property
    def retries(self) -> int:
        """Extra requests that the adapter may send before the first event."""
        return self.target.retries

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests that came, in short."""
        return tuple(exchange.summary for exchange in self.backend.exchanges)

    def answer(self, body: Body, log: Log) -> Answer:
        """Return what the adapter made of `body`, to be judged."""
        return Answer(body, log, self.model_error, self.package, self.retries, self.requests)

    def drop_model(self) -> None:
        """Let go of the model, as its user does at last.

        Raises:
            Hang: its `__del__` did not return.
        """
        if self._model:
            self.consumer.drop_streams()
            self.backend.stop()  # a stream that reads on when it is dropped comes back
            self.consumer.close_model(self._model, self.target.deadline)

    def _stop_consumer(self) -> None:
        self.consumer.stop(self.target.deadline)
        self._leaks.expected |= self.consumer.leaves_garbage

    # Using the adapter

    def stream(
        self,
        progress: Progress | None = None,
        request: Request | None = None,
        beside: Stream | None = None,
        patience: float = 0.0,
        consumer: Consumer | None = None,
    ) -> Stream:
        """Return a stream that is not opened yet.

        Args:
            progress: counts the events it takes, for a script that waits for them.
            request: what is streamed; the author's by default.
            beside: a stream whose thread is to be shared.
            patience: seconds that each operation may take beyond the deadline, and beyond what
                the adapter's retries may wait.
            consumer: who uses it, if not the case's own.
        """
        consumer = consumer or self.consumer
        limit = self.target.deadline + self.target.back_off + patience
        stream = consumer.stream(self.model, request or self.target.request, limit, beside)
        if progress is not None:
            stream.log.progress = progress
        return stream

    def open(self, progress: Progress | None = None, beside: Stream | None = None) -> Stream:
        """Return an opened stream; `progress` and `beside` as for `stream`.

        Raises:
            Failure: the adapter raised at the call.
        """
        stream = self.stream(progress, beside=beside)
        error = stream.open()
        if error is not None:
            raise Failure(f"stream() raised {shown(error)}; expected a stream.")
        return stream

    def started(
        self, events: int = 1, progress: Progress | None = None, beside: Stream | None = None
    ) -> Stream:
        """Return an opened stream of which so many events were taken."""
        stream = self.open(progress, beside)
        self.take(stream, events)
        return stream

    def take(self, stream: Stream, events: int = 1) -> None:
        """Take so many more events.

        Raises:
            Failure: fewer came.
        """
        wanted = len(stream.log.events) + events
        stream.take(events)
        log = stream.log
        if len(log.events) < wanted:
            end = ending_of(log.error, ended=log.ended)
            raise Failure(f"expected {count(wanted, 'event')}, got {len(log.events)}: {end}.")

    def read(
        self,
        progress: Progress | None = None,
        request: Request | None = None,
        *,
        hold_error: bool = False,
        patience: float = 0.0,
    ) -> Log:
        """Read a whole turn as an agent loop does: to its end or its error, then close.

        Args:
            progress: as for `stream`.
            request: as for `stream`.
            hold_error: keep the error's traceback, as an `except` block does while it runs.
            patience: as for `stream`.
        """
        stream = self.stream(progress, request, patience=patience)
        stream.log.hold_error = hold_error
        stream.read()
        return stream.log

    @contextmanager
    def nobody_listens(self) -> Iterator[None]:
        """Stop the backend, and keep its port from others, so that connections are refused."""
        address = self.backend.address
        self.backend.stop()
        with socket.socket() as placeholder:
            with suppress(OSError):  # of the system's; who has taken the port since is no provider
                placeholder.bind(address)
            yield

    # Judging

    def wait_for_request(self, number: int = 1) -> bool:
        """Wait until the backend has so many requests; return whether it has."""
        return self.backend.wait(
            lambda: len(self.backend.exchanges) >= number, self.target.deadline
        )

    def expect_released(self, after: str) -> None:
        """Expect that nothing of any response is held any more.

        Released: the server saw the peer leave, or it sent the whole answer and, as far as
        the transport can tell, the connection went back to its pool clean. No request at all
        holds nothing either.

        Args:
            after: what the consumer did, as in "the consumer broke out of the loop".

        Raises:
            Failure: something is still held, or was leaked into the interpreter.
        """
        deadline = now() + self.target.deadline
        if not self.backend.wait(self._all_over, self.target.deadline):
            raise Failure(self._still_open(after))
        remaining = max(0.0, deadline - now())
        if not self.ledger.wait(self._nothing_held, remaining):
            raise Failure(self._still_open(after))
        self.expect_no_leak(after)

    def expect_events_only(self, *, hung: bool = False) -> None:
        """Expect that the adapter gave nothing but events, and not for ever.

        Args:
            hung: it did not come back either.

        Raises:
            Failure: naming the first thing that was none.
        """
        faults = self.consumer.faults if hasattr(self, "consumer") else None
        if faults is None or not faults.found:
            return
        first, *others = faults.found
        also = "\n".join(fault.text for fault in others)
        # No further case where the stream has no end: each would take as long.
        raise Failure(
            first.text,
            (Evidence("also", also),) if also else (),
            hung=hung or faults.full,
            fix=first.fix,
        )

    def expect_no_leak(self, after: str) -> None:
        """Expect that the adapter leaked no exception into the interpreter.

        A thread that dies of what was done to it dies a little later.

        Raises:
            Failure: naming it.
        """
        self.let_threads_rest()
        found = [*self._leaks.found, *self.consumer.reports()]
        if found:
            self._leaks.found.clear()
            raise Failure(
                f"after {after}, an exception reached the interpreter instead of the consumer.",
                (Evidence("leaked", "\n".join(found)), *self.evidence()),
            )

    def expect(self, condition: Callable[[], bool], statement: str) -> None:
        """Expect that `condition()` holds within the deadline.

        It is tried again whenever the backend sees something.

        Raises:
            Failure: with the statement.
        """
        if not self.backend.wait(condition, self.target.deadline):
            raise Failure(statement)

    def let_threads_rest(self) -> None:
        """Wait until the threads that the adapter started have ended, or stand still.

        One that goes on and on, such as a heartbeat, is not waited for.
        """
        until = now() + min(_REST, self.target.deadline)
        still, last = 0, None
        while still < _LOOKS and now() < until:
            threads = self._started()
            if not threads:
                return
            marks = _positions(threads)
            still = still + 1 if marks == last else 0
            last = marks
            pause(0.002)  # a thread's end signals nothing that could be waited for

    def _all_over(self) -> bool:
        return all(exchange.over for exchange in self.backend.exchanges)

    def _nothing_held(self) -> bool:
        left = all(exchange.disconnected is not None for exchange in self.backend.exchanges)
        return left or not self.ledger.unreleased

    def _still_open(self, after: str) -> str:
        return f"the response is still open {self.target.deadline:.1f} s after {after}."

    # What was seen

    def evidence(self) -> tuple[Evidence, ...]:
        """Return what server, client and threads have to say now."""
        found = [Evidence("server", self._server_saw())]
        if self.target.transport.tracks and self.ledger.connections:
            found.append(Evidence("client", "\n".join(self.ledger.describe())))
        found += [Evidence("thread", line) for line in self.started_threads()[:3]]
        return tuple(found)

    def requests_shown(self) -> Evidence:
        """Return what was asked of the backend: the first requests, without credentials."""
        first = [exchange.summary for exchange in self.backend.exchanges[:2]]
        return Evidence("request", "\n".join(first) or "none")

    @property
    def bystanders(self) -> frozenset[threading.Thread]:
        """The threads that were there before the case began: neither the kit's nor an adapter's."""
        return frozenset(thread for thread in self._threads if not is_adapter_thread(thread))

    def started_threads(self) -> list[str]:
        """Describe the live threads that the adapter started in this case."""
        lines = []
        for thread in sorted(self._started(), key=lambda thread: thread.name):
            where = waits_at(thread)
            if where:
                lines.append(f'"{thread.name}", started by the adapter, waits at {where}')
        return lines

    def held(self) -> dict[str, int]:
        """Return how much of what a stream may leave behind there is now.

        Descriptors are those of the whole process, and none where the system does not tell.
        """
        return {
            "thread": len(self._started()),
            "task": self.consumer.tasks(),
            "file descriptor": _open_descriptors(),
        }

    def _started(self) -> set[threading.Thread]:
        return other_threads() - self._threads

    def _server_saw(self) -> str:
        exchanges = self.backend.exchanges
        if self.backend.malformed:
            return f"received what is no HTTP/1 request: {'; '.join(self.backend.malformed[:3])}"
        if not exchanges:
            return "received no request"
        if len(exchanges) > 1:
            open_ = sum(not exchange.over for exchange in exchanges)
            sent = sum(exchange.sent_bytes for exchange in exchanges)
            return (
                f"received {len(exchanges)} requests on "
                f"{count(self.backend.connections, 'connection')}, sent {size(sent)}; "
                f"{open_} of the responses still open"
            )
        exchanges[0].wait(lambda: exchanges[0].over, _SETTLE)
        return _saw(exchanges[0])


_SETTLE = 0.05
"""Seconds in which the server may note that it has sent the last of a body that was read."""


def _saw(exchange: Exchange) -> str:
    sent = f"sent {count(exchange.sent_events, 'event')} ({size(exchange.sent_bytes)})"
    if exchange.reset:
        return f"{sent} and reset the connection"
    ended = " and ended the body" if exchange.ended else ""
    closed = " and closed the connection" if exchange.closed and not ended else ""
    gone = exchange.disconnected
    client = "is still connected" if gone is None else f"disconnected ({gone})"
    return f"{sent}{ended or closed}; the client {client}"


def _positions(threads: set[threading.Thread]) -> dict[int, tuple[int, int]]:
    """Return where each of them is, in one look; the same marks twice: none has moved."""
    idents = {thread.ident for thread in threads}
    frames = sys._current_frames()  # the only way to look into a thread
    return {ident: (id(frame), frame.f_lasti) for ident, frame in frames.items() if ident in idents}


def _open_descriptors() -> int:
    try:
        return len(os.listdir("/dev/fd"))  # noqa: PTH208 - the numbers are counted, not opened
    except OSError:
        return 0  # as on Windows
