"""A record of HTTP connections: which are in use, which are left behind, and who opened them.

`Ledger` is fed by the clients a `Transport` makes. It also serves any test on its own:

    ledger = Ledger()
    with Urllib3Transport().client(ledger) as client, ledger.all_released():
        my_code(client)

The ledger holds nothing that could keep a connection open, or close it: it knows sockets by
weak reference only, and responses not at all.
"""

from __future__ import annotations

import queue
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from modeltest.clock import now
from modeltest.threads import calling_place

if TYPE_CHECKING:
    from modeltest.threads import Place


_POLL_INTERVAL = 0.02
"""Seconds between two looks at what rings no bell, such as a socket that outlives its close."""

_FIX_IN_USE = (
    "close the response on every way out of the read loop: "
    "`with response:` or try/finally around it"
)
_FIX_UNREAD = (
    "do not call release_conn() before the body is read to its end: the next request gets the "
    "rest of it; close the response instead"
)


class Socket(Protocol):
    """What the ledger needs of a socket; it must allow weak references."""

    def fileno(self) -> int:
        """Return the file descriptor, or -1 once it is closed."""
        ...


class State(Enum):
    """What a connection is doing."""

    IN_USE = "in use"
    """A request or a response holds it."""

    IDLE = "idle"
    """It is open and back in its client's pool."""

    CLOSED = "closed"
    """The operating system's socket is closed."""


class Connection:
    """One connection, from its opening to its end.

    Attributes:
        address: host and port it was opened to.
        opened: the adapter's line that opened it.
        requests: how many requests were sent on it.
        complete: whether the last response was known to be read to its end when the
            connection was given back to its pool. A response that was never given back, or
            whose connection was closed under it, is not complete.

    The methods are for whoever writes a transport; each is called by one thread at a time.
    """

    def __init__(self, address: tuple[str, int], opened: Place, sock: Socket, bell: Bell) -> None:
        self.address = address
        self.opened = opened
        self.requests = 0
        self.complete = False
        self._idle = False
        self._bell = bell
        self._socket = weakref.ref(sock, lambda _: bell.ring())

    @property
    def state(self) -> State:
        """What the connection is doing now.

        CLOSED goes by evidence. A call to `close()` is none: a response that still has the
        socket's file keeps the descriptor open. Nor is it needed: a response that nobody
        refers to any more closes the descriptor without a call (hence the weak reference).
        `fileno() == -1` is how Python marks a closed socket on every platform.
        """
        sock = self._socket()
        if sock is None or sock.fileno() == -1:
            return State.CLOSED
        return State.IDLE if self._idle else State.IN_USE

    @property
    def reused(self) -> int:
        """How many requests were sent on it after the first."""
        return max(0, self.requests - 1)

    @property
    def released(self) -> bool:
        """Whether it is closed, or idle with its last response read to the end.

        Giving a connection back in mid-body (urllib3's `release_conn()`) is no release: the
        next request on it fails, or reads the rest of that body.
        """
        state = self.state
        return state is State.CLOSED or (state is State.IDLE and self.complete)

    def request_sent(self) -> None:
        """Note that a request went out."""
        self.requests += 1
        self.complete = False
        self._bell.ring()

    def given_back(self, *, complete: bool) -> None:
        """Note that the pool has it again, and whether its response was read to the end."""
        self.complete = complete
        self._idle = True
        self._bell.ring()

    def taken_out(self) -> None:
        """Note that it left the pool for another request."""
        self._idle = False
        self._bell.ring()

    def changed(self) -> None:
        """Wake those who wait on the ledger, as after a `close()`: the state may be another."""
        self._bell.ring()

    def __str__(self) -> str:
        return f"{_status(self)}: opened at {self.opened}"

    def __repr__(self) -> str:
        host, port = self.address
        return f"<Connection to {host}:{port}, {self}>"


class Ledger:
    """A thread-safe record of the connections that tracked clients opened.

    Attributes:
        bell: rings when something has changed.
    """

    def __init__(self) -> None:
        self._connections: list[Connection] = []
        self.bell = Bell()

    def opened(self, address: tuple[str, int], sock: Socket) -> Connection:
        """Record a connection that was just opened, and return its entry.

        For whoever writes a transport. The calling stack tells which line of the adapter
        opened it; `sock` is the socket after any TLS handshake.
        """
        connection = Connection(address, calling_place(sys._getframe()), sock, self.bell)
        self._connections.append(connection)
        self.bell.ring()
        return connection

    @property
    def connections(self) -> tuple[Connection, ...]:
        """All connections ever opened, oldest first."""
        return tuple(self._connections)

    @property
    def in_use(self) -> tuple[Connection, ...]:
        """The connections that a request or a response holds."""
        return tuple(c for c in self.connections if c.state is State.IN_USE)

    @property
    def unreleased(self) -> tuple[Connection, ...]:
        """The connections in use, and those that are idle with an unread response."""
        return tuple(c for c in self.connections if not c.released)

    def wait(self, predicate: Callable[[], bool], timeout: float) -> bool:
        """Wait until `predicate()` is true, at most `timeout` seconds; return whether it is.

        The predicate is asked again whenever a connection changes, and now and then in
        between for changes that nothing announces. What it raises passes through.
        """
        deadline = now() + timeout
        with self.bell.subscribe() as rings:
            while not predicate():
                remaining = deadline - now()
                if remaining <= 0:
                    return False
                with suppress(queue.Empty):
                    rings.get(timeout=min(remaining, _POLL_INTERVAL))
        return True

    def describe(self) -> list[str]:
        """Return what became of the connections in words, alike ones in one line.

        Such as "1 connection in use: opened at acme/adapter.py:41 in stream". Those that are
        not released come first.
        """
        ordered = sorted(self.connections, key=lambda connection: connection.released)
        return _lines(ordered) or ["no connection was opened"]

    @contextmanager
    def all_released(self, timeout: float = 2.0, *, at_least: int = 1) -> Iterator[None]:
        """Assert that no connection is left in use after the block.

        Waits up to `timeout` seconds for the last one to be released; a block that leaves
        none in use costs no waiting. An exception from the block passes through unjudged.
        Connections opened before the block count too.

        Args:
            timeout: seconds.
            at_least: connections that must have been opened by then: where the ledger saw none,
                that none is left says nothing.

        Raises:
            AssertionError: naming each connection that is left, the line that opened it and
                the fix; or saying that fewer were seen than expected.
        """
        yield
        seen = len(self.connections)
        if seen < at_least:
            raise AssertionError(
                f"expected the ledger to see {at_least} connection{'s' * (at_least > 1)} at least, "
                f"it saw {seen}: it knows those of the client that transport.client(ledger) gave; "
                "does the code under test use that one?"
            )
        self.wait(lambda: not self.unreleased, timeout)
        left = self.unreleased
        if left:
            raise AssertionError(_complaint(left, timeout))


class Bell:
    """Wakes whoever listens.

    It rings from weak-reference callbacks, thus at any allocation of any thread, perhaps one
    that holds a lock of ours. So ringing takes no lock: the listeners are a tuple that is
    replaced, never changed, and `SimpleQueue.put` is documented as re-entrant.

    Attributes:
        lock: held while the listeners change.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._listeners: tuple[queue.SimpleQueue[None], ...] = ()

    def ring(self) -> None:
        """Wake them."""
        for listener in self._listeners:
            listener.put(None)

    @contextmanager
    def subscribe(self) -> Iterator[queue.SimpleQueue[None]]:
        """Yield a queue that gets one item for each ring."""
        listener: queue.SimpleQueue[None] = queue.SimpleQueue()
        with self.lock:
            self._listeners += (listener,)
        try:
            yield listener
        finally:
            with self.lock:
                self._listeners = tuple(x for x in self._listeners if x is not listener)


def _status(connection: Connection) -> str:
    state = connection.state
    if state is State.IDLE and not connection.complete:
        return "idle with an unread response"
    return state.value


def _complaint(left: tuple[Connection, ...], timeout: float) -> str:
    fixes = dict.fromkeys(_FIX_UNREAD if c.state is State.IDLE else _FIX_IN_USE for c in left)
    lines = [f"expected every connection to be released, but {timeout:g} s after the block:"]
    lines += [f"  {line}" for line in _lines(left)]
    lines += [f"  fix: {fix}" for fix in fixes]
    return "\n".join(lines)


def _lines(connections: Iterable[Connection]) -> list[str]:
    counts = Counter(str(connection) for connection in connections)
    return [
        f"{count} connection{'s' if count > 1 else ''} {text}" for text, count in counts.items()
    ]
