"""Scripts in turn, faults that are the kit's, and a life from start to stop."""

import contextlib
import errno
import gc
import os
import socket
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import requests

from modeltest.backend import backend as backend_module
from modeltest.backend.backend import Backend, BackendError, SocketsClosed
from modeltest.backend.response import Framing, Response
from modeltest.backend.steps import Close, End, Repeat, Send, Stall
from modeltest.backend.writer import PeerDisconnected, Stopped
from modeltest.threads import KitThread
from tests.backend.client import PATIENCE, POST, Client, chunks


def said(text):
    return Response((Send(text.encode()),))


def backend_threads():
    """Return the threads of all backends; consumers may have left some of theirs behind."""
    return {
        thread
        for thread in threading.enumerate()
        if isinstance(thread, KitThread) and thread.name.startswith("modeltest backend")
    }


def open_files():
    return set(os.listdir("/proc/self/fd"))


class TestScripts(unittest.TestCase):
    def get(self, backend):
        return requests.get(backend.url, timeout=PATIENCE).text

    def test_responses_are_played_in_turn_and_the_last_one_again(self):
        with Backend(said("1"), said("2")) as backend:
            self.assertEqual([self.get(backend) for _ in range(4)], ["1", "2", "2", "2"])
            backend.play(said("a"), said("b"))
            self.assertEqual([self.get(backend) for _ in range(3)], ["a", "b", "b"])

    def test_without_a_script_it_answers_500(self):
        with Backend() as backend:
            self.assertEqual(requests.get(backend.url, timeout=PATIENCE).status_code, 500)

    def test_any_method_and_path_is_recorded(self):
        with Backend(said("")) as backend:
            for method, path in ("PUT", "/a/b?c=d"), ("FOO", "/"), ("DELETE", "//x"):
                with Client(backend) as client:
                    client.send(f"{method} {path} HTTP/1.1\r\n\r\n".encode()).head()
                exchange = backend.exchanges[-1]
                self.assertEqual((exchange.method, exchange.path), (method, path))
            self.assertEqual([e.index for e in backend.exchanges], [0, 1, 2])
            self.assertEqual([e.connection for e in backend.exchanges], [0, 1, 2])
            self.assertEqual(backend.connections, 3)

    def test_the_record_holds_the_request(self):
        with Backend(said("")) as backend:
            requests.post(backend.url, json={"a": 1}, headers={"X-Y": "z"}, timeout=PATIENCE)
            exchange = backend.exchanges[0]
        self.assertEqual(exchange.json, {"a": 1})
        self.assertEqual(exchange.headers["x-y"], "z")

    def test_requests_sent_all_at_once_are_answered_one_after_the_other(self):
        with Backend(said("1"), said("2")) as backend, Client(backend) as client:
            client.send(POST + POST)
            for text in b"1", b"2":
                client.head()
                self.assertEqual(chunks(client.until(b"0\r\n\r\n")), [text, b""])

    def test_a_client_that_waits_for_100_continue_gets_it(self):
        with Backend(said("1")) as backend, Client(backend) as client:
            client.send(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            self.assertEqual(client.head(), "HTTP/1.1 100 Continue\r\n\r\n")
            client.send(b"ab")
            self.assertIn("200 OK", client.head())
            self.assertEqual(backend.exchanges[0].body, b"ab")


class TestMalformedRequests(unittest.TestCase):
    def test_they_are_evidence_and_no_exchange(self):
        with Backend(said("1")) as backend, Client(backend) as client:
            client.send(b"nonsense\r\n\r\n")
            self.assertIn(b"400 Bad Request", client.rest())
            self.assertEqual(backend.malformed, ["Bad request syntax ('nonsense')"])
            self.assertEqual(backend.exchanges, [])

    def test_tls_is_named(self):
        with Backend(said("1")) as backend, self.assertRaises(requests.exceptions.SSLError):
            requests.get(backend.url.replace("http:", "https:"), timeout=PATIENCE)
        self.assertIn("TLS handshake", backend.malformed[0])

    def test_a_request_that_breaks_off_is_named(self):
        for leave in Client.close, Client.reset:
            with self.subTest(leave), Backend(said("1")) as backend:
                leave(Client(backend).send(POST[:-1]))
                self.assertTrue(backend.wait(lambda b=backend: b.malformed, PATIENCE))
                self.assertEqual(backend.malformed, ["it broke off after 1 of 2 bytes of body"])

    def test_one_that_breaks_off_because_the_backend_stops_is_not(self):
        with Backend(said("1")) as backend, Client(backend) as client:
            client.send(POST).until(b"0\r\n\r\n")
            client.send(POST[:-1])
            backend.stop()
            self.assertEqual(backend.malformed, [])


def refuse_to_accept(backend, error):
    """Let the next connection fail with `error`; return an event that is set once it has."""
    server, failed = backend.server, threading.Event()
    listener = server.listener

    class Refusing:
        def accept(self):
            failed.set()
            server.listener = listener
            raise error

        def __getattr__(self, name):
            return getattr(listener, name)

    server.listener = Refusing()
    return failed


class Raise:
    """A step that is broken."""

    def __init__(self, error):
        self.error = error

    def __repr__(self):
        return "Raise()" + "." * 5000

    def run(self, writer):
        raise self.error


class WriteOn:
    def run(self, writer):
        writer.close()
        writer.end()  # does nothing
        writer.write(b"more")


class TestFaults(unittest.TestCase):
    def test_a_script_that_raises_is_the_backends_fault_with_the_step_named(self):
        for error in KeyError("oops"), SystemExit(3):
            with self.assertRaisesRegex(
                BackendError, r"request 0 raised .* at step Raise"
            ) as raised:
                with Backend(Response((Send(b"a"), Raise(error)))) as backend:
                    with self.assertRaises(requests.RequestException):
                        requests.get(backend.url, timeout=PATIENCE)
            self.assertIs(raised.exception.__cause__, error)
            self.assertLess(len(str(raised.exception)), 500)

    def test_it_is_raised_over_whatever_it_caused(self):
        with self.assertRaises(BackendError) as raised:
            with Backend(Response(before=(Raise(KeyError()),))) as backend:
                requests.get(backend.url, timeout=PATIENCE)
        self.assertIsInstance(raised.exception.__context__, requests.RequestException)

    def test_an_event_that_cannot_be_made_is_one_too(self):
        with self.assertRaisesRegex(BackendError, "ZeroDivisionError.*Repeat"):
            with Backend(
                Response((Repeat(lambda i: b"%d" % (1 // (2 - i)), interval=0),))
            ) as backend:
                with self.assertRaises(requests.RequestException):
                    requests.get(backend.url, timeout=PATIENCE)

    def test_a_script_that_writes_after_its_close_is_one(self):
        with self.assertRaisesRegex(BackendError, "cannot write after it has closed"):
            with Backend(Response((WriteOn(),))) as backend, Client(backend) as client:
                client.send().head()
                with contextlib.suppress(ConnectionResetError):
                    client.rest()

    def test_the_others_go_on(self):
        backend = Backend(Response((Raise(KeyError()),)), said("fine")).start()
        with self.assertRaises(requests.RequestException):
            requests.get(backend.url, timeout=PATIENCE)
        self.assertEqual(requests.get(backend.url, timeout=PATIENCE).text, "fine")
        backend.stop()
        self.assertRaises(BackendError, backend.raise_faults)

    def test_a_peer_that_leaves_is_none(self):
        with Backend(
            Response((Raise(PeerDisconnected()),)), Response((Raise(Stopped()),))
        ) as backend:
            for _ in range(2):
                with Client(backend) as client:
                    client.send().head()
                    client.rest()
            self.assertEqual([e.ended for e in backend.exchanges], [False, False])

    def test_a_script_that_hangs_is_one(self):
        release = threading.Event()

        class Hang:
            def run(self, writer):
                release.wait()

        with mock.patch.object(backend_module, "STOP_TIMEOUT", 0.05):
            with self.assertRaisesRegex(BackendError, "modeltest backend connection hangs"):
                with Backend(Response(before=(Hang(),))) as backend, Client(backend) as client:
                    client.send()
                    self.assertTrue(backend.wait(lambda: backend.exchanges, PATIENCE))
        release.set()
        for thread in backend_threads():
            thread.join(PATIENCE)
        self.assertEqual(backend_threads(), set())

    def test_running_out_of_descriptors_is_one(self):
        with self.assertRaisesRegex(BackendError, "Too many open files"):
            with Backend(said("1")) as backend, Client(backend) as client:
                client.send().head()
                failed = refuse_to_accept(backend, OSError(errno.EMFILE, "Too many open files"))
                Client(backend).close()
                self.assertTrue(failed.wait(PATIENCE))
                client.until(b"0\r\n\r\n")
                # Those that were accepted before are served on.
                client.send().head()

    def test_a_peer_that_has_left_before_it_is_accepted_is_none(self):
        for error in BlockingIOError(), ConnectionAbortedError():
            with self.subTest(error), Backend(said("1")) as backend:
                failed = refuse_to_accept(backend, error)
                with Client(backend) as client:
                    client.send()
                    self.assertTrue(failed.wait(PATIENCE))
                    client.until(b"0\r\n\r\n")  # the loop looks again

    def test_running_out_of_threads_is_one(self):
        with self.assertRaisesRegex(BackendError, "can't start new thread"):
            with Backend(said("1")) as backend:
                with mock.patch.object(
                    KitThread, "start", side_effect=RuntimeError("can't start new thread")
                ):
                    with Client(backend) as client, contextlib.suppress(ConnectionResetError):
                        client.send()
                        client.rest()

    def test_an_error_in_the_server_is_one(self):
        with mock.patch.object(backend_module, "Handler", side_effect=KeyError("bug")):
            with self.assertRaisesRegex(BackendError, "KeyError.*bug"):
                with Backend(said("1")) as backend, Client(backend) as client:
                    with contextlib.suppress(ConnectionResetError):
                        client.rest()


class TestLostSockets(unittest.TestCase):
    """Code under test that closes what is not its own cannot hang the backend."""

    def torn(self, backend):
        with self.assertRaisesRegex(SocketsClosed, "the sockets of the test server were closed"):
            backend.stop()
            backend.raise_faults()

    def test_closed_by_number(self):
        backend = Backend().start()
        os.close(backend.server.selector.fileno())
        with contextlib.suppress(OSError):
            backend.server.waker.send(b"x")
        wait_for(lambda: not backend.server.loop.is_alive())
        self.torn(backend)

    def test_closed_as_objects(self):
        for name in ("listener", "waker", "woken"):
            with self.subTest(name):
                backend = Backend().start()
                getattr(backend.server, name).close()
                wait_for(lambda backend=backend: not backend.server.loop.is_alive())
                self.torn(backend)

    def test_a_connection_that_is_closed_ends_its_handler(self):
        backend = Backend(Response((Stall(),))).start()
        with Client(backend) as client:
            client.send(POST)
            self.assertTrue(backend.wait(lambda: bool(backend.exchanges), PATIENCE))
            (connection,) = backend.server.handlers
            connection.socket.close()
            wait_for(lambda: not backend.server.loop.is_alive())
        self.torn(backend)


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


class TestLife(unittest.TestCase):
    def test_it_has_an_address_only_while_it_runs(self):
        backend = Backend(said("1"))
        self.assertRaises(BackendError, lambda: backend.address)
        with backend:
            host, port = backend.address
            self.assertEqual(backend.url, f"http://{host}:{port}")
            self.assertEqual(host, "127.0.0.1")
        self.assertRaises(BackendError, lambda: backend.url)

    def test_it_can_be_started_again(self):
        backend = Backend(said("1"))
        for _ in range(2):
            with backend:
                requests.get(backend.url, timeout=PATIENCE)
        self.assertEqual(len(backend.exchanges), 2)

    def test_but_not_twice_at_a_time(self):
        with Backend() as backend, self.assertRaisesRegex(BackendError, "already"):
            backend.start()

    def test_stop_is_harmless_when_it_does_not_run(self):
        backend = Backend()
        backend.stop()
        backend.start()
        backend.stop()
        backend.stop()

    def test_an_address_that_cannot_be_had_is_a_fault(self):
        with Backend() as backend:
            _, port = backend.address
            for other in (
                Backend(port=port),
                Backend(port=70_000),
                Backend(host="203.0.113.1"),
            ):
                with self.assertRaisesRegex(BackendError, "cannot listen on"):
                    other.start()

    def test_nothing_is_left_of_a_start_that_fails(self):
        with Backend() as backend:
            before = backend_threads()
            with self.assertRaises(BackendError):
                Backend(port=backend.address[1]).start()
            self.assertEqual(backend_threads(), before)

    def test_a_given_port_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        with Backend(port=port) as backend:
            self.assertEqual(backend.address[1], port)

    def test_it_stops_in_the_middle_of_everything(self):
        scripts = (
            Response((Stall(),)),
            Response(before=(Stall(),)),
            Response((Repeat(lambda i: b"x", interval=0),)),
            Response((Send(b"x" * 50_000_000),)),
            Response((Send(b"x"), Close())),
            Response((Send(b"x"), End())),
        )
        backend = Backend(*scripts)
        with backend, contextlib.ExitStack() as clients:
            for number in range(1, len(scripts) + 1):
                clients.enter_context(Client(backend).send())
                self.assertTrue(
                    backend.wait(lambda n=number: len(backend.exchanges) == n, PATIENCE)
                )
            clients.enter_context(Client(backend))  # says nothing
            clients.enter_context(Client(backend).send(POST[:5]))
            backend.stop()
            self.assertEqual(backend_threads(), set())
        self.assertTrue(all(exchange.disconnected is None for exchange in backend.exchanges))

    def test_hundreds_of_connections_at_once(self):
        with Backend(Response((Send(b"!"), Stall()))) as backend, contextlib.ExitStack() as clients:
            opened = [clients.enter_context(Client(backend).send()) for _ in range(300)]
            for client in opened:
                client.until(b"!")
            self.assertEqual(backend.connections, 300)
            for client in opened[::2]:
                client.close()
            self.assertTrue(
                backend.wait(
                    lambda: sum(e.disconnected is not None for e in backend.exchanges) == 150,
                    PATIENCE,
                )
            )
            backend.stop()
            self.assertEqual(backend_threads(), set())

    def test_stop_while_connections_come(self):
        for _ in range(20):
            backend = Backend(Response((Stall(),))).start()
            address = backend.address
            begun = threading.Event()

            def connect(address=address, begun=begun):
                try:
                    while True:
                        with socket.create_connection(address, PATIENCE) as client:
                            begun.set()
                            client.sendall(POST)
                except OSError:
                    pass

            with ThreadPoolExecutor(4) as pool:
                for _ in range(4):
                    pool.submit(connect)
                self.assertTrue(begun.wait(PATIENCE))
                backend.stop()
            self.assertEqual(backend_threads(), set())
            backend.raise_faults()

    @unittest.skipUnless(os.path.isdir("/proc/self/fd"), "no list of descriptors here")
    def test_a_thousand_starts_leave_no_thread_and_no_descriptor(self):
        gc.collect()
        before = open_files()
        for number in range(1000):
            with Backend(said("1"), Response((Stall(),))) as backend:
                if number % 10 == 0:
                    with Client(backend) as client:
                        client.send().until(b"0\r\n\r\n")
                        client.send().head()
        self.assertEqual(backend_threads(), set())
        self.assertLessEqual(open_files(), before)

    def test_a_global_default_timeout_does_no_harm(self):
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        socket.setdefaulttimeout(0.01)
        progress = Response((Send(b"a"), Repeat(lambda i: b"!", interval=0.02)))
        with Backend(progress) as backend, Client(backend) as client:
            client.send().head()
            for _ in range(5):
                client.until(b"!")
            self.assertEqual(backend.exchanges[0].disconnected, None)
            with Client(backend) as slow:  # reads must have no limit either
                slow.send(POST[:5])
                time.sleep(0.03)
                slow.send(POST[5:]).head()
        self.assertEqual(backend.malformed, [])

    def test_wait_ends_when_its_time_is_over(self):
        with Backend() as backend:
            self.assertFalse(backend.wait(lambda: False, 0.001))

    def test_wait_is_woken_by_a_request_an_end_and_a_leaving(self):
        with Backend(Response((Send(b"1"),), framing=Framing.LENGTH)) as backend:
            with Client(backend) as client:
                client.send()
                self.assertTrue(backend.wait(lambda: backend.exchanges, PATIENCE))
                exchange = backend.exchanges[0]
                self.assertTrue(backend.wait(lambda: exchange.ended, PATIENCE))
            self.assertTrue(backend.wait(lambda: exchange.disconnected is not None, PATIENCE))
