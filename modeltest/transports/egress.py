"""A guard against connections to anywhere but where they are meant to go.

It sees what goes through Python's `socket` module: connecting, sending datagrams, looking up
names. It does not see: child processes; extensions with sockets of their own (pycurl, grpc,
uvloop); connections of asyncio's proactor loop on Windows, though the look-up of a name before
them is seen; the look-up of a name that is given straight to `socket.connect`, which the
interpreter makes before it raises the event (if it succeeds, the connection is refused).
Families other than IPv4 and IPv6 are left alone: Unix sockets never leave the machine.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from modeltest.threads import calling_place

if TYPE_CHECKING:
    from modeltest.threads import Place


_LOOPBACK = "127.0.0.1"
_Address = tuple[str, int | None]


class EgressRefused(ConnectionRefusedError):  # noqa: N818 - named as its base is
    """A guard refused a connection, or a datagram, to an address that is not allowed."""


class LookupRefused(socket.gaierror):
    """A guard refused to look up a name that is not allowed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something a guard refused.

    Attributes:
        action: "connect to", "send to" or "look up".
        address: host and port as they were given; a look-up may have no port.
        place: the adapter's line it came from.
        thread_name: the name of the thread it came from.
    """

    action: str
    address: _Address
    place: Place
    thread_name: str

    def __str__(self) -> str:
        where = f"at {self.place}, thread {self.thread_name!r}"
        return f"{self.action} {_shown(*self.address)} {where}"


class EgressGuard:
    """Refuses and records, while it is active, what is not meant to be contacted.

        with EgressGuard([("127.0.0.1", port)]) as guard:
            run_the_adapter()
        assert not guard.attempts

    It watches the thread that enters it, those given as `threads`, and every thread started
    while it is active. Other threads that were alive before are left alone: the channel of a
    debugger or of a test runner must go on working.

    Several guards may be active, one inside the other or side by side. What any guard that
    watches a thread allows, is allowed there; what none allows is recorded by each of them.

    A refusal reaches the adapter as an ordinary failure of the network: `EgressRefused`, which
    is a ConnectionRefusedError, or `LookupRefused`, which is a socket.gaierror.

    Attributes:
        attempts: what was refused, oldest first.
    """

    def __init__(
        self,
        allowed: Iterable[tuple[str, int]] = (),
        threads: Iterable[threading.Thread] = (),
    ) -> None:
        self.attempts: list[Attempt] = []
        self._allowed: dict[str, set[int | None]] = {_LOOPBACK: set()}
        self._threads = tuple(threads)
        # By weak reference, and asked whether they live: the system uses a dead thread's
        # number again for a new one.
        self._exempt: dict[int | None, weakref.ref[threading.Thread]] = {}
        for host, port in allowed:
            self.allow(host, port)

    def allow(self, host: str, port: int) -> None:
        """Allow an address from now on, for connections and datagrams.

        The loopback addresses (127.0.0.0/8, ::1, "localhost", and 0.0.0.0 and ::, which
        connect to the same) count as one host: an adapter may write the one it is given as
        another.

        Raises:
            ValueError: `host` is neither "localhost" nor an IP address; a connection shows no
                more than the address a name was resolved to.
        """
        name = canonical(host)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            raise ValueError(f"expected 'localhost' or an IP address, got {host!r}") from None
        self._allowed.setdefault(name, set()).add(port)

    def __enter__(self) -> Self:
        """Start.

        Raises:
            RuntimeError: this guard is already active.
        """
        global _guards  # noqa: PLW0603 - replaced, never changed: the hook reads without a lock
        with _lock:
            if self in _guards:
                raise RuntimeError("this EgressGuard is already active: make another one")
            self._exempt = {
                thread.ident: weakref.ref(thread)
                for thread in threading.enumerate()
                if thread.ident != threading.get_ident() and thread not in self._threads
            }
            _install_hook()
            _guards = (*_guards, self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        global _guards  # noqa: PLW0603 - as above
        with _lock:
            _guards = tuple(guard for guard in _guards if guard is not self)

    def watches(self, ident: int) -> bool:
        """Tell whether it judges what the thread of this number does."""
        reference = self._exempt.get(ident)
        thread = None if reference is None else reference()
        return thread is None or not thread.is_alive()

    def _allows(self, action: str, address: _Address) -> bool:
        host, port = address
        ports = self._allowed.get(canonical(host))
        # A look-up is judged by its host alone: a port is just passed through it.
        return ports is not None and (action == _LOOK_UP or port in ports)


_CONNECT, _SEND, _LOOK_UP = "connect to", "send to", "look up"


def _peer(sock: Any, address: Any) -> _Address | None:
    """Return whom a socket call addresses; None if it is no IP address, or none is given."""
    if getattr(sock, "family", None) not in (socket.AF_INET, socket.AF_INET6) or address is None:
        return None
    host, port = address[:2]
    return _text(host), port


def _name(host: Any, port: Any = None, *_: object) -> _Address | None:
    """Return what a look-up asks for; None if it asks for nothing: this machine's own."""
    return None if host is None else (_text(host), port)


def _sockaddr(address: Any) -> _Address | None:
    return _name(*address)


# https://docs.python.org/3/library/audit_events.html, all events named socket.* were looked
# at. Not judged: __new__, bind, gethostname, getservbyname, getservbyport and sethostname
# contact nobody. connect_ex raises socket.connect, gethostbyname_ex socket.gethostbyname.
_EVENTS: dict[str, tuple[str, Callable[..., _Address | None]]] = {
    "socket.connect": (_CONNECT, _peer),
    "socket.sendto": (_SEND, _peer),
    "socket.sendmsg": (_SEND, _peer),
    "socket.getaddrinfo": (_LOOK_UP, _name),
    "socket.gethostbyname": (_LOOK_UP, _name),
    "socket.gethostbyaddr": (_LOOK_UP, _name),
    "socket.getnameinfo": (_LOOK_UP, _sockaddr),
}

_lock = threading.Lock()
_guards: tuple[EgressGuard, ...] = ()
_installed = False


def _install_hook() -> None:
    """Install the hook once for all guards, and not before the first: it cannot be removed."""
    global _installed  # noqa: PLW0603 - once a process
    if not _installed:
        sys.addaudithook(audit_hook)
        _installed = True


def audit_hook(event: str, args: tuple[Any, ...]) -> None:
    """Judge an audit event.

    It runs for every event of the process, imports and attribute reads among them, so it
    leaves at once where no guard is active. What it does itself raises events as well
    (`sys._getframe`), but none of `_EVENTS`: it does not call itself without end.
    """
    guards = _guards
    if not guards or event not in _EVENTS:
        return
    action, address_of = _EVENTS[event]
    address = address_of(*args)
    if address is None:
        return
    ident = threading.get_ident()
    watching = [guard for guard in guards if guard.watches(ident)]
    if not watching or any(guard._allows(action, address) for guard in watching):
        return
    frame = sys._getframe()
    if not _in_socketpair(frame.f_back):
        _refuse(Attempt(action, address, calling_place(frame), _thread_name(ident)), watching)


# Without this mark the interpreter turns tracing off in audit hooks, coverage included.
audit_hook.__cantrace__ = True  # type: ignore[attr-defined]


def _refuse(attempt: Attempt, guards: list[EgressGuard]) -> None:
    for guard in guards:
        guard.attempts.append(attempt)
    allowed = sorted(
        {_shown(host, port) for g in guards for host, ports in g._allowed.items() for port in ports}
    )
    message = (
        f"EgressGuard refused to {attempt.action} {_shown(*attempt.address)}; allowed are: "
        f"{', '.join(allowed) or 'none'}. Send requests to the address the code was given."
    )
    if attempt.action == _LOOK_UP:
        raise LookupRefused(socket.EAI_NONAME, message)
    raise EgressRefused(errno.ECONNREFUSED, message)


def _in_socketpair(caller: FrameType | None) -> bool:
    """Whether `socket.socketpair` connects to itself, as it does where the system has none.

    Event loops wake themselves with such a pair (Windows; before Python 3.12.5 the function
    has no name of its own).
    """
    return (
        caller is not None
        and caller.f_globals.get("__name__") == "socket"
        and caller.f_code.co_name in ("socketpair", "_fallback_socketpair")
    )


def _thread_name(ident: int) -> str:
    # Not threading.current_thread(): in a thread that it does not know it makes an entry that
    # then counts as one more living thread.
    names = (thread.name for thread in threading.enumerate() if thread.ident == ident)
    return next(names, f"thread {ident}")


def _text(host: Any) -> str:
    return host if isinstance(host, str) else bytes(host).decode("ascii", "replace")


def canonical(host: str) -> str:
    """Return the host in one spelling, all loopback addresses being the same one."""
    name = host.rstrip(".").lower()
    if name in ("", "localhost"):
        return _LOOPBACK
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name
    address = getattr(address, "ipv4_mapped", None) or address
    return _LOOPBACK if address.is_loopback or address.is_unspecified else str(address)


def _shown(host: str, port: int | None) -> str:
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"
