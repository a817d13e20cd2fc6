"""Nothing is contacted but what is allowed; what is refused is recorded."""

from __future__ import annotations

import _thread
import asyncio
import importlib.util
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests
import urllib3

from modeltest.threads import Place
from modeltest.transports import egress
from modeltest.transports.egress import Attempt, EgressGuard, EgressRefused, LookupRefused

from .servers import BODY, PATIENCE, Server, answers, chunked

FAR = ("192.0.2.1", 443)  # reserved for documentation (RFC 5737)
FAR_6 = ("2001:db8::1", 443)  # the same (RFC 3849)


class GuardTest(unittest.TestCase):
    def setUp(self) -> None:
        self.guard = EgressGuard()
        self.listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.listener.setblocking(False)
        self.here: tuple[str, int] = self.listener.getsockname()

    def new_socket(self, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM) -> Any:
        sock = self.enterContext(socket.socket(family, kind))
        sock.setblocking(False)  # were a refusal to fail, nothing would wait for an answer
        return sock

    def assert_nothing_arrived(self) -> None:
        with self.assertRaises(BlockingIOError):
            self.listener.accept()

    def assert_refused(
        self, action: str, address: tuple[str, Any], call: Callable[[], Any]
    ) -> None:
        """Assert that `call` is refused, and recorded once, with its place and thread."""
        refused = LookupRefused if action == "look up" else EgressRefused
        with self.guard, self.assertRaises(refused) as caught:
            call()
        (attempt,) = self.guard.attempts
        self.assertEqual((attempt.action, attempt.address), (action, address))
        self.assertEqual(attempt.thread_name, threading.current_thread().name)
        self.assertEqual((attempt.place.file, attempt.place.function), (__file__, "<lambda>"))
        self.assertIn(f"EgressGuard refused to {action} ", str(caught.exception))


class RefusalTest(GuardTest):
    def test_connect(self) -> None:
        self.assert_refused("connect to", FAR, lambda: self.new_socket().connect(FAR))

    def test_connect_ex(self) -> None:
        self.assert_refused("connect to", FAR, lambda: self.new_socket().connect_ex(FAR))

    def test_create_connection(self) -> None:
        call = lambda: socket.create_connection(self.here, timeout=PATIENCE)  # noqa: E731
        self.assert_refused("connect to", self.here, call)
        self.assert_nothing_arrived()

    @unittest.skipUnless(socket.has_ipv6, "needs IPv6")
    def test_connect_by_ipv6(self) -> None:
        call = lambda: self.new_socket(socket.AF_INET6).connect(FAR_6)  # noqa: E731
        self.assert_refused("connect to", FAR_6, call)

    def test_other_port_of_this_machine(self) -> None:
        self.guard.allow("127.0.0.1", self.here[1] ^ 1)
        self.assert_refused("connect to", self.here, lambda: self.new_socket().connect(self.here))
        self.assert_nothing_arrived()

    def test_connect_for_datagrams(self) -> None:
        sock = self.new_socket(kind=socket.SOCK_DGRAM)
        self.assert_refused("connect to", FAR, lambda: sock.connect(FAR))

    def test_sendto(self) -> None:
        sock = self.new_socket(kind=socket.SOCK_DGRAM)
        self.assert_refused("send to", FAR, lambda: sock.sendto(b"", FAR))

    @unittest.skipUnless(hasattr(socket.socket, "sendmsg"), "needs sendmsg")
    def test_sendmsg(self) -> None:
        sock = self.new_socket(kind=socket.SOCK_DGRAM)
        self.assert_refused("send to", FAR, lambda: sock.sendmsg([b""], (), 0, FAR))

    def test_getaddrinfo(self) -> None:
        call = lambda: socket.getaddrinfo("provider.invalid", 443)  # noqa: E731
        self.assert_refused("look up", ("provider.invalid", 443), call)

    def test_getaddrinfo_of_bytes(self) -> None:
        call = lambda: socket.getaddrinfo(b"provider.invalid", None)  # noqa: E731
        self.assert_refused("look up", ("provider.invalid", None), call)

    def test_getaddrinfo_of_a_far_address(self) -> None:
        self.assert_refused("look up", FAR, lambda: socket.getaddrinfo(*FAR))

    def test_gethostbyname(self) -> None:
        for lookup in (socket.gethostbyname, socket.gethostbyname_ex):
            self.guard = EgressGuard()
            call = lambda lookup=lookup: lookup("provider.invalid")  # noqa: E731
            self.assert_refused("look up", ("provider.invalid", None), call)

    def test_gethostbyaddr(self) -> None:
        call = lambda: socket.gethostbyaddr(FAR[0])  # noqa: E731
        self.assert_refused("look up", (FAR[0], None), call)

    def test_getnameinfo(self) -> None:
        self.assert_refused("look up", FAR, lambda: socket.getnameinfo(FAR, 0))

    def test_refusal_is_an_ordinary_failure_of_the_network(self) -> None:
        with self.guard:
            with self.assertRaises(ConnectionRefusedError):
                self.new_socket().connect(FAR)
            with self.assertRaises(socket.gaierror):
                socket.gethostbyname("provider.invalid")

    def test_message_says_what_is_allowed(self) -> None:
        self.guard.allow("127.0.0.1", 8001)
        self.guard.allow("::1", 8002)
        with self.guard, self.assertRaises(EgressRefused) as caught:
            self.new_socket().connect(FAR)
        self.assertIn(
            "EgressGuard refused to connect to 192.0.2.1:443; allowed are: 127.0.0.1:8001, "
            "127.0.0.1:8002. Send requests to the address",
            str(caught.exception),
        )

    def test_message_when_nothing_is_allowed(self) -> None:
        with self.guard, self.assertRaisesRegex(EgressRefused, "allowed are: none"):
            self.new_socket().connect(FAR)

    def test_attempt_reads_as_a_sentence(self) -> None:
        attempt = Attempt("connect to", FAR_6, Place("acme.py", 41, "stream"), "MainThread")
        self.assertEqual(
            str(attempt),
            "connect to [2001:db8::1]:443 at acme.py:41 in stream, thread 'MainThread'",
        )
        attempt = Attempt("look up", ("h.invalid", None), Place("acme.py", 41, "stream"), "T")
        self.assertEqual(str(attempt), "look up h.invalid at acme.py:41 in stream, thread 'T'")


class AllowedTest(GuardTest):
    def setUp(self) -> None:
        super().setUp()
        self.enterContext(self.guard)

    def tearDown(self) -> None:
        self.assertEqual(self.guard.attempts, [])

    def test_address_allowed_before(self) -> None:
        with EgressGuard([self.here]):
            socket.create_connection(self.here).close()

    def test_address_allowed_meanwhile(self) -> None:
        self.guard.allow(*self.here)
        socket.create_connection(self.here).close()

    def test_loopback_in_another_spelling(self) -> None:
        self.guard.allow("localhost", self.here[1])
        socket.create_connection(("127.0.0.1", self.here[1])).close()
        # By its name: of the addresses tried, ::1 is refused by the system, not by the guard.
        socket.create_connection(("localhost", self.here[1])).close()

    def test_lookups_that_stay_on_this_machine(self) -> None:
        for host in ("localhost", b"localhost", None, "127.0.0.1", "0.0.0.0"):
            socket.getaddrinfo(host, 80)
        socket.getaddrinfo("::1", 80, flags=socket.AI_NUMERICHOST)
        socket.gethostbyname("localhost")
        socket.getnameinfo(("127.0.0.1", 80), socket.NI_NUMERICHOST)

    def test_lookup_of_an_allowed_address(self) -> None:
        self.guard.allow(*FAR)
        self.assertEqual(socket.getaddrinfo(FAR[0], 80, type=socket.SOCK_STREAM)[0][4][0], FAR[0])

    def test_datagrams_on_a_connected_socket(self) -> None:
        receiver = self.new_socket(kind=socket.SOCK_DGRAM)
        receiver.bind(("127.0.0.1", 0))
        address = receiver.getsockname()
        self.guard.allow(*address)
        sender = self.new_socket(kind=socket.SOCK_DGRAM)
        sender.sendto(b"one", address)
        sender.connect(address)
        sender.send(b"two")
        if hasattr(sender, "sendmsg"):
            sender.sendmsg([b"three"])

    @unittest.skipUnless(hasattr(socket, "AF_UNIX"), "needs Unix sockets")
    def test_unix_sockets(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "s"))
            with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as sock:
                listener.bind(path)
                listener.listen()
                sock.connect(path)

    def test_pair_of_an_event_loop(self) -> None:
        for sock in socket.socketpair():
            sock.close()
        asyncio.run(asyncio.sleep(0))

    def test_pair_that_is_made_of_a_connection(self) -> None:
        # As `socket` does where the system has no pairs.
        for name in ("socketpair", "_fallback_socketpair"):
            names: dict[str, Any] = {"__name__": "socket"}
            exec(f"def {name}(sock, address): sock.connect(address)", names)
            with self.subTest(name), socket.socket() as sock:
                names[name](sock, self.here)

    def test_only_addresses_can_be_allowed(self) -> None:
        with self.assertRaisesRegex(ValueError, "'localhost' or an IP address, got 'a.invalid'"):
            self.guard.allow("a.invalid", 80)


class CanonicalTest(unittest.TestCase):
    def test_loopback_is_one_host(self) -> None:
        loopback = ("localhost", "Localhost.", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "")
        for host in (*loopback, "::ffff:127.0.0.1"):
            self.assertEqual(egress.canonical(host), "127.0.0.1", host)

    def test_others_are_themselves(self) -> None:
        for host, name in {
            "192.0.2.1": "192.0.2.1",
            "2001:DB8:0::1": "2001:db8::1",
            "::ffff:192.0.2.1": "192.0.2.1",
            "Provider.INVALID.": "provider.invalid",
            "localhost.provider.invalid": "localhost.provider.invalid",
            "fe80::1%lo": "fe80::1%lo",
        }.items():
            self.assertEqual(egress.canonical(host), name)


class ScopeTest(GuardTest):
    """When a guard is active, and for whom."""

    def connect(self) -> None:
        socket.create_connection(self.here).close()

    def test_nothing_is_refused_outside_the_block(self) -> None:
        self.connect()
        with self.guard:
            pass
        self.connect()
        self.assertEqual(self.guard.attempts, [])

    def test_error_of_the_block_ends_it_too(self) -> None:
        with self.assertRaises(ZeroDivisionError), self.guard:
            raise ZeroDivisionError
        self.connect()

    def test_hook_looks_at_nothing_while_no_guard_is_active(self) -> None:
        # These arguments would not survive a look.
        self.assertIsNone(egress.audit_hook("socket.connect", ()))

    def test_hook_is_installed_once_and_not_before_it_is_needed(self) -> None:
        code = """if True:
            import sys
            installed, install = [], sys.addaudithook
            sys.addaudithook = lambda hook: (installed.append(hook), install(hook))
            from modeltest.transports import EgressGuard
            assert not installed, installed
            for _ in range(2):
                with EgressGuard(), EgressGuard():
                    pass
            assert len(installed) == 1, installed
        """
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_guard_serves_again_but_not_twice_at_once(self) -> None:
        for _ in range(2):
            with self.guard, self.assertRaises(EgressRefused):
                self.connect()
        with self.guard:
            with self.assertRaisesRegex(RuntimeError, "already active"):
                self.guard.__enter__()
            with self.assertRaises(EgressRefused):
                self.connect()
        self.assertEqual(len(self.guard.attempts), 3)

    def test_inner_guard_adds_what_it_allows_while_it_lasts(self) -> None:
        with self.guard:
            with EgressGuard([self.here]) as inner:
                self.connect()
            with self.assertRaises(EgressRefused):
                self.connect()
        self.assertEqual((len(self.guard.attempts), inner.attempts), (1, []))

    def test_attempt_is_recorded_by_every_guard_that_watches(self) -> None:
        with self.guard, EgressGuard() as inner, self.assertRaises(EgressRefused):
            self.connect()
        self.assertEqual(self.guard.attempts, inner.attempts)
        self.assertEqual(len(inner.attempts), 1)

    def test_guards_may_end_in_any_order(self) -> None:
        other = EgressGuard([self.here])
        self.guard.__enter__()
        other.__enter__()
        self.guard.__exit__(None, None, None)
        self.connect()
        other.__exit__(None, None, None)
        self.assertEqual(self.guard.attempts, [])

    def test_thread_started_inside_is_watched(self) -> None:
        with self.guard, ThreadPoolExecutor(1, "pump") as pool:
            error = pool.submit(self.connect).exception(PATIENCE)
        self.assertIsInstance(error, EgressRefused)
        (attempt,) = self.guard.attempts
        self.assertEqual((attempt.thread_name, attempt.place.function), ("pump_0", "connect"))

    def test_thread_alive_before_is_left_alone_unless_it_is_given(self) -> None:
        with ThreadPoolExecutor(1) as pool:
            thread = pool.submit(threading.current_thread).result(PATIENCE)
            with self.guard:
                pool.submit(self.connect).result(PATIENCE)
            with EgressGuard(threads=[thread]) as watching:
                error = pool.submit(self.connect).exception(PATIENCE)
        self.assertIsInstance(error, EgressRefused)
        self.assertEqual((len(self.guard.attempts), len(watching.attempts)), (0, 1))

    def test_exemption_ends_with_the_thread(self) -> None:
        # The system gives its number to a new thread, which was not there before.
        end = threading.Event()
        thread = threading.Thread(target=end.wait, args=(PATIENCE,))
        thread.start()
        ident = thread.ident
        with self.guard:
            self.assertFalse(self.guard.watches(ident))
            end.set()
            thread.join(PATIENCE)
            self.assertTrue(self.guard.watches(ident))
            del thread
            self.assertTrue(self.guard.watches(ident))

    def test_guards_side_by_side_do_not_meet(self) -> None:
        inside, leave = threading.Event(), threading.Event()

        def other() -> None:
            with EgressGuard() as strict:
                strict.allow(*FAR)
                inside.set()
                leave.wait(PATIENCE)

        thread = threading.Thread(target=other)
        thread.start()
        self.assertTrue(inside.wait(PATIENCE))
        self.connect()  # this thread was there before that guard, and has none of its own
        with self.guard, self.assertRaises(EgressRefused):
            self.connect()
        leave.set()
        thread.join(PATIENCE)
        self.assertEqual(len(self.guard.attempts), 1)

    def test_thread_that_threading_does_not_know(self) -> None:
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def run() -> None:
            try:
                self.new_socket().connect(FAR)
            except OSError as error:
                results.put(error)

        with self.guard:
            known = set(threading.enumerate())
            _thread.start_new_thread(run, ())
            self.assertIsInstance(results.get(timeout=PATIENCE), EgressRefused)
            self.assertEqual(set(threading.enumerate()), known)
        self.assertRegex(self.guard.attempts[0].thread_name, r"^thread \d+$")


class ClientsTest(GuardTest):
    """What the libraries make of a refusal, and that they reach what is allowed."""

    def setUp(self) -> None:
        super().setUp()
        self.server = self.enterContext(Server(answers(chunked(BODY))))
        self.enterContext(self.guard)
        self.guard.allow(*self.server.address)
        self.refused = f"http://127.0.0.1:{self.here[1]}/"

    def tearDown(self) -> None:
        (attempt,) = self.guard.attempts
        self.assertEqual((attempt.action, attempt.address), ("connect to", self.here))
        self.assertEqual(attempt.place.file, __file__)
        self.assert_nothing_arrived()

    def test_requests(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            self.assertEqual(session.get(self.server.url).content, BODY)
            with self.assertRaises(requests.ConnectionError):
                session.get(self.refused)

    def test_urllib3(self) -> None:
        with urllib3.PoolManager(retries=False) as manager:
            self.assertEqual(manager.request("GET", self.server.url).data, BODY)
            with self.assertRaises(urllib3.exceptions.NewConnectionError):
                manager.request("GET", self.refused)

    def test_asyncio(self) -> None:
        async def run() -> None:
            _, writer = await asyncio.open_connection(*self.server.address)
            writer.close()
            await writer.wait_closed()
            await asyncio.open_connection(*self.here)

        with self.assertRaises(ConnectionRefusedError):
            run_in_loop(run())

    def test_asyncio_with_its_own_socket(self) -> None:
        async def run() -> None:
            await asyncio.get_running_loop().sock_connect(self.new_socket(), self.here)

        with self.assertRaises(EgressRefused):
            run_in_loop(run())

    @unittest.skipUnless(importlib.util.find_spec("httpx"), "needs httpx")
    def test_httpx(self) -> None:
        import httpx

        with httpx.Client(trust_env=False) as client:
            self.assertEqual(client.get(self.server.url).content, BODY)
            with self.assertRaises(httpx.ConnectError):
                client.get(self.refused)

    @unittest.skipUnless(importlib.util.find_spec("httpx"), "needs httpx")
    def test_httpx_with_asyncio(self) -> None:
        import httpx

        client = httpx.AsyncClient(trust_env=False)

        async def run() -> None:
            async with client:
                self.assertEqual((await client.get(self.server.url)).content, BODY)
                await client.get(self.refused)

        with self.assertRaises(httpx.ConnectError):
            run_in_loop(run())


def run_in_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    # Windows' own loop connects in a way that raises no audit event.
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(coroutine)
