"""What the ledger says of real connections, for every way to leave a response."""

from __future__ import annotations

import gc
import ssl
import threading
import unittest
import warnings
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar

import requests
import urllib3
from urllib3.exceptions import EmptyPoolError, HTTPError

from modeltest.transports.base import OwnTransport, Transport
from modeltest.transports.ledger import Connection, Ledger, State
from modeltest.transports.pools import PooledTransport, TrackedHTTPConnection, TrackedQueue
from modeltest.transports.requests_client import RequestsTransport
from modeltest.transports.urllib3_client import Urllib3Transport

from .servers import (
    BODY,
    GZIP_HEAD,
    GZIPPED,
    HEAD,
    PATIENCE,
    Peer,
    Server,
    answers,
    answers_and_closes,
    chunk,
    chunked,
    silent,
    sized,
    starts,
)


class ClientTest(unittest.TestCase):
    """A client, its ledger and a server; both libraries behind one face."""

    transport: PooledTransport = Urllib3Transport()
    no_retries: ClassVar[dict[str, Any]] = {"retries": False}

    def setUp(self) -> None:
        self.ledger = Ledger()
        self.client: Any = self.enterContext(self.transport.client(self.ledger))

    def serve(self, script: Any, **options: Any) -> Server:
        self.server = self.enterContext(Server(script, **options))
        return self.server

    def open(self, method: str = "GET", **options: Any) -> Any:
        """Send a request, and return the response with its body unread."""
        return self.client.request(method, self.server.url, preload_content=False, **options)

    def raw(self, response: Any) -> Any:
        """Return urllib3's response."""
        return response

    def chunks(self, response: Any) -> Iterator[bytes]:
        return response.stream(4, decode_content=True)

    @property
    def entry(self) -> Connection:
        (entry,) = self.ledger.connections
        return entry

    def assert_entry(self, state: State, *, complete: bool) -> None:
        self.assertEqual((self.entry.state, self.entry.complete), (state, complete))

    def assert_server_was_left(self) -> None:
        for peer in self.server.peers:
            self.assertTrue(peer.left.wait(PATIENCE), "the server did not see the client leave")

    def assert_server_was_not_left(self) -> None:
        """Show that the connection is alive: the next request goes through it."""
        self.open().close()
        self.assertEqual(len(self.server.peers), 1)


class LeavingTest(ClientTest):
    """Hazard by hazard: what leaves a connection behind, and what does not."""

    def test_break_with_the_iterator_kept_leaves_it_in_use(self) -> None:
        self.serve(starts())
        chunks = self.chunks(self.open())
        next(chunks)
        self.assert_entry(State.IN_USE, complete=False)
        self.assertEqual(self.ledger.in_use, (self.entry,))
        self.assertEqual(self.ledger.unreleased, (self.entry,))
        self.assertEqual(
            self.ledger.describe(), [f"1 connection in use: opened at {self.entry.opened}"]
        )
        self.assertFalse(self.server.peers[0].left.is_set())

    def test_opened_names_the_line_that_sent_the_request(self) -> None:
        self.serve(starts())
        response = self.open()
        self.assertEqual((self.entry.opened.file, self.entry.opened.function), (__file__, "open"))
        self.assertEqual(self.entry.address, self.server.address)
        response.close()

    def test_break_with_the_iterator_dropped_closes_it_without_a_call(self) -> None:
        self.serve(starts())
        for _ in self.chunks(self.open()):
            break
        gc.collect()  # only for interpreters without reference counts
        self.assert_entry(State.CLOSED, complete=False)
        self.assertEqual(self.ledger.unreleased, ())
        self.assert_server_was_left()

    def test_close_after_break_closes_it(self) -> None:
        self.serve(starts())
        response = self.open()
        chunks = self.chunks(response)
        next(chunks)
        response.close()
        self.assert_entry(State.CLOSED, complete=False)
        self.assert_server_was_left()

    def test_reading_to_the_end_gives_it_back(self) -> None:
        self.serve(answers(chunked(BODY)))
        body = b"".join(self.chunks(self.open()))
        self.assertEqual(body, BODY)
        self.assert_entry(State.IDLE, complete=True)
        self.assertEqual(self.ledger.unreleased, ())
        self.assert_server_was_not_left()

    def test_release_conn_in_mid_body_is_no_release(self) -> None:
        self.serve(starts())
        response = self.open()
        chunks = self.chunks(response)
        next(chunks)
        self.raw(response).release_conn()
        self.assert_entry(State.IDLE, complete=False)
        self.assertEqual(self.ledger.unreleased, (self.entry,))
        self.assertIn("1 connection idle with an unread response", self.ledger.describe()[0])
        # Closing now comes too late: the pool has the connection, the rest is unread in it.
        response.close()
        self.assertEqual(self.ledger.unreleased, (self.entry,))

    def test_response_closed_before_it_is_read_is_closed(self) -> None:
        self.serve(starts())
        self.open().close()
        self.assert_entry(State.CLOSED, complete=False)
        self.assert_server_was_left()

    def test_response_dropped_before_it_is_read_is_closed(self) -> None:
        self.serve(starts())
        self.open()
        gc.collect()  # as above
        self.assert_entry(State.CLOSED, complete=False)
        self.assert_server_was_left()

    def test_response_of_a_silent_server_is_closed(self) -> None:
        self.serve(silent)
        response = self.open()
        self.assert_entry(State.IN_USE, complete=False)
        response.close()
        self.assert_entry(State.CLOSED, complete=False)
        self.assert_server_was_left()

    def test_ledger_keeps_no_response_alive(self) -> None:
        self.serve(starts())
        response = self.open()
        alive = weakref.ref(self.raw(response))
        del response
        gc.collect()
        self.assertIsNone(alive())

    def test_announced_close_leaves_the_socket_to_the_response(self) -> None:
        # http.client closes its connection at once then: a close() that closes nothing.
        self.serve(starts(HEAD + b"Connection: close\r\n"))
        response = self.open()
        chunks = self.chunks(response)
        next(chunks)
        self.assert_entry(State.IN_USE, complete=False)
        response.close()
        self.assert_entry(State.CLOSED, complete=False)
        self.assert_server_was_left()

    def test_close_delimited_and_abandoned(self) -> None:
        def script(peer: Peer) -> None:
            peer.read_request()
            peer.send(b"HTTP/1.0 200 OK\r\n\r\n" + BODY)
            peer.wait_until_left()

        self.serve(script)
        response = self.open()
        chunks = self.chunks(response)
        next(chunks)
        self.assert_entry(State.IN_USE, complete=False)
        del chunks, response
        gc.collect()
        self.assert_entry(State.CLOSED, complete=False)

    def test_unread_answer_without_a_body_is_unread(self) -> None:
        # http.client does not accept the next request before somebody has read "nothing".
        self.serve(answers(b"HTTP/1.1 204 No Content\r\n\r\n"))
        response = self.open()
        self.raw(response).release_conn()
        self.assert_entry(State.IDLE, complete=False)
        with self.assertRaises((HTTPError, requests.RequestException)):
            self.open(**self.no_retries)

    def test_response_collected_with_its_cycle_is_closed(self) -> None:
        self.serve(starts())
        cycle: list[Any] = [self.open()]
        cycle.append(cycle)
        gc.disable()
        self.addCleanup(gc.enable)
        del cycle
        self.assert_entry(State.IN_USE, complete=False)
        with warnings.catch_warnings():
            # Which object of a cycle goes first is chance; if it is the socket, it complains.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        self.assert_entry(State.CLOSED, complete=False)

    def test_waiter_sees_a_close_in_another_thread(self) -> None:
        self.serve(starts())
        response = self.open()
        thread = threading.Thread(target=response.close)
        with self.ledger.all_released(timeout=PATIENCE):
            thread.start()
        thread.join(PATIENCE)


class BodyTest(ClientTest):
    """A body read to its end gives the connection back, however the body is framed."""

    def read(self, response: Any) -> bytes:
        return b"".join(self.chunks(response))

    def assert_reusable(self, response: bytes, body: bytes = BODY, method: str = "GET") -> None:
        self.serve(answers(response))
        for _ in range(3):
            self.assertEqual(self.read(self.open(method)), body)
            self.assert_entry(State.IDLE, complete=True)
        self.assertEqual((self.entry.requests, self.entry.reused), (3, 2))

    def assert_closed_complete(self, response: bytes, body: bytes = BODY) -> None:
        self.serve(answers_and_closes(response))
        self.assertEqual(self.read(self.open()), body)
        self.assert_entry(State.CLOSED, complete=True)

    def test_chunked(self) -> None:
        self.assert_reusable(chunked(BODY[:7], BODY[7:]))

    def test_chunked_and_empty(self) -> None:
        self.assert_reusable(chunked(), b"")

    def test_sized(self) -> None:
        self.assert_reusable(sized(BODY))

    def test_sized_and_empty(self) -> None:
        self.assert_reusable(sized(b""), b"")

    def test_chunked_gzip(self) -> None:
        self.assert_reusable(chunked(GZIPPED[:9], GZIPPED[9:], head=GZIP_HEAD))

    def test_sized_gzip(self) -> None:
        self.assert_reusable(sized(GZIPPED, GZIP_HEAD))

    def test_answer_to_head(self) -> None:
        self.assert_reusable(HEAD + b"Content-Length: 22\r\n\r\n", b"", "HEAD")

    def test_answer_to_head_that_would_be_chunked(self) -> None:
        self.assert_reusable(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"", "HEAD")

    def test_no_content(self) -> None:
        self.assert_reusable(b"HTTP/1.1 204 No Content\r\n\r\n", b"")

    def test_not_modified(self) -> None:
        self.assert_reusable(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b"")

    def test_close_delimited(self) -> None:
        self.assert_closed_complete(b"HTTP/1.0 200 OK\r\n\r\n" + BODY)

    def test_chunked_then_closed(self) -> None:
        self.assert_closed_complete(chunked(BODY, head=HEAD + b"Connection: close\r\n"))

    def test_sized_then_closed(self) -> None:
        self.assert_closed_complete(sized(BODY, HEAD + b"Connection: close\r\n"))

    truncated: ClassVar[dict[str, bytes]] = {
        "chunked, no end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(BODY),
        "inside a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(BODY)[:9],
        "sized": sized(BODY)[:-1],
    }

    def test_truncated(self) -> None:
        for name, response in self.truncated.items():
            with self.subTest(name):
                self.serve(answers_and_closes(response))
                with self.assertRaises((HTTPError, requests.RequestException)):
                    self.read(self.open(**self.no_retries))
                entry = self.ledger.connections[-1]
                self.assertEqual((entry.state, entry.complete), (State.CLOSED, False))


class PoolTest(ClientTest):
    """Connections come, go and come back."""

    def test_connection_discarded_by_a_full_pool_is_closed(self) -> None:
        pool_of_one = type(self.transport)(pool_size=1, pool_block=False)
        self.client = self.enterContext(pool_of_one.client(self.ledger))
        self.serve(answers(chunked(BODY)))
        responses = [self.open(), self.open()]
        with self.assertLogs("urllib3.connectionpool", "WARNING"):
            for response in responses:
                self.assertEqual(b"".join(self.chunks(response)), BODY)
        kept, discarded = self.ledger.connections
        self.assertEqual((kept.state, kept.complete), (State.IDLE, True))
        self.assertEqual((discarded.state, discarded.complete), (State.CLOSED, True))

    def test_connection_the_server_closed_is_opened_again(self) -> None:
        self.serve(answers_and_closes(chunked(BODY)))
        for _ in range(2):
            self.assertEqual(b"".join(self.chunks(self.open())), BODY)
            # Until the pool looks, an idle connection is idle, whatever the server did.
            self.assertTrue(self.server.peers[-1].gone.wait(PATIENCE))
        first, second = self.ledger.connections
        self.assertEqual((first.state, second.state), (State.CLOSED, State.IDLE))
        self.assertEqual((first.requests, second.requests), (1, 1))

    def test_failing_connect_is_no_connection(self) -> None:
        with Server(silent) as self.server:
            pass  # and now nobody listens there
        with self.assertRaises((HTTPError, requests.RequestException)):
            self.open(**self.no_retries)
        self.assertEqual(self.ledger.connections, ())

    def test_failing_reconnect_is_no_request_on_the_old_connection(self) -> None:
        with Server(answers(chunked(BODY))) as self.server:
            self.assertEqual(b"".join(self.chunks(self.open())), BODY)
        with self.assertRaises((HTTPError, requests.RequestException)):
            self.open(**self.no_retries)
        self.assertEqual((self.entry.requests, self.entry.state), (1, State.CLOSED))

    def test_request_without_an_answer_was_sent(self) -> None:
        self.serve(lambda peer: peer.read_request() and None)
        with self.assertRaises((HTTPError, requests.RequestException)):
            self.open("POST")
        self.assertEqual((self.entry.requests, self.entry.state), (1, State.CLOSED))

    def test_redirect_is_read_and_its_connection_used_again(self) -> None:
        moved = b"HTTP/1.1 302 Found\r\nLocation: /there\r\n"
        self.serve(answers(sized(b"moved", moved), chunked(BODY)))
        self.assertEqual(b"".join(self.chunks(self.open())), BODY)
        self.assert_entry(State.IDLE, complete=True)
        self.assertEqual(self.entry.requests, 2)

    def test_client_closes_its_idle_connections(self) -> None:
        self.serve(answers(chunked(BODY)))
        with self.transport.client(self.ledger) as self.client:
            b"".join(self.chunks(self.open()))
            self.assert_entry(State.IDLE, complete=True)
        self.assert_entry(State.CLOSED, complete=True)
        self.assert_server_was_left()

    def test_many_responses_at_once(self) -> None:
        self.serve(starts())
        responses = [self.open() for _ in range(60)]  # a process may have no more than 256 files
        self.assertEqual(len(self.ledger.in_use), 60)
        self.assertEqual(
            self.ledger.describe(),
            [f"60 connections in use: opened at {self.ledger.connections[0].opened}"],
        )
        responses.clear()
        gc.collect()
        self.assertEqual(self.ledger.in_use, ())
        self.assert_server_was_left()

    def test_three_hundred_abandoned_responses(self) -> None:
        self.serve(starts())
        with self.ledger.all_released(timeout=PATIENCE):
            for _ in range(300):
                next(iter(self.chunks(self.open())))
            gc.collect()
        self.assertEqual(len(self.ledger.connections), 300)
        self.assertEqual({entry.state for entry in self.ledger.connections}, {State.CLOSED})

    def test_threads_share_a_client(self) -> None:
        self.serve(answers(chunked(BODY)))
        bodies: list[bytes] = []

        def work() -> None:
            for _ in range(20):
                bodies.append(b"".join(self.chunks(self.open())))

        threads = [threading.Thread(target=work) for _ in range(8)]
        with self.ledger.all_released(timeout=PATIENCE):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
        self.assertEqual(bodies, [BODY] * 160)
        self.assertEqual(sum(entry.requests for entry in self.ledger.connections), 160)

    def test_tls(self) -> None:
        # Ciphers without a certificate: there is no key to keep, and nothing to expire.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client_context.check_hostname = False
        client_context.verify_mode = ssl.CERT_NONE
        for each in (context, client_context):
            each.maximum_version = ssl.TLSVersion.TLSv1_2
            try:
                each.set_ciphers("aNULL:@SECLEVEL=0")
            except ssl.SSLError as error:
                self.skipTest(f"this TLS library has no anonymous ciphers: {error}")
        self.use_tls_context(client_context)
        self.serve(answers(chunked(BODY)), tls=context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
            for _ in range(2):
                self.assertEqual(b"".join(self.chunks(self.open(**self.unverified))), BODY)
            self.assert_entry(State.IDLE, complete=True)
            response = self.open(**self.unverified)
            self.assert_entry(State.IN_USE, complete=False)
            response.close()
        self.assert_entry(State.CLOSED, complete=False)
        self.assertEqual((self.entry.requests, self.entry.address), (3, self.server.address))

    unverified: ClassVar[dict[str, Any]] = {}

    def use_tls_context(self, context: ssl.SSLContext) -> None:
        self.client.connection_pool_kw["ssl_context"] = context


class RequestsMixin(ClientTest):
    transport = RequestsTransport()
    no_retries: ClassVar[dict[str, Any]] = {}
    unverified: ClassVar[dict[str, Any]] = {"verify": False}

    def open(self, method: str = "GET", **options: Any) -> Any:
        options = {"stream": True, "allow_redirects": True, **options}
        return self.client.request(method, self.server.url, **options)

    def raw(self, response: Any) -> Any:
        return response.raw

    def chunks(self, response: Any) -> Iterator[bytes]:
        return response.iter_content(4)

    def use_tls_context(self, context: ssl.SSLContext) -> None:
        adapter = self.client.get_adapter("https://")
        adapter.poolmanager.connection_pool_kw["ssl_context"] = context


class RequestsLeavingTest(RequestsMixin, LeavingTest):
    pass


class RequestsPoolTest(RequestsMixin, PoolTest):
    pass


class RequestsBodyTest(RequestsMixin, BodyTest):
    pass


class RequestsContentTest(RequestsMixin, BodyTest):
    def read(self, response: requests.Response) -> bytes:
        return response.content


class PreloadedBodyTest(BodyTest):
    def open(self, method: str = "GET", **options: Any) -> Any:
        return self.client.request(method, self.server.url, **options)

    def read(self, response: Any) -> bytes:
        return response.data


class BodyReadAtOnceTest(BodyTest):
    def read(self, response: Any) -> bytes:
        return response.read()


class BodyReadInPiecesTest(BodyTest):
    def read(self, response: Any) -> bytes:
        return b"".join(iter(lambda: response.read(4), b""))


class BodyReadAsItComesTest(BodyTest):
    # read1() takes a short body for a whole one.
    truncated: ClassVar[dict[str, bytes]] = {
        name: response for name, response in BodyTest.truncated.items() if name != "sized"
    }

    def read(self, response: Any) -> bytes:
        return b"".join(iter(response.read1, b""))


class Urllib3Test(ClientTest):
    """What only urllib3 lets its user do."""

    def test_it_is_a_plain_pool_manager_otherwise(self) -> None:
        plain = urllib3.PoolManager()
        self.assertIs(type(self.client), type(plain))
        self.assertEqual(self.client.connection_pool_kw, plain.connection_pool_kw)
        ours, theirs = (m.connection_from_host("localhost", 1) for m in (self.client, plain))
        for name in ("block", "retries", "headers", "proxy"):
            self.assertEqual(getattr(ours, name), getattr(theirs, name), name)
        self.assertEqual(repr(ours.timeout), repr(theirs.timeout))
        self.assertEqual(ours.pool.maxsize, theirs.pool.maxsize)

    def test_other_pool_managers_are_not_tracked(self) -> None:
        self.serve(answers(chunked(BODY)))
        with urllib3.PoolManager() as other:
            self.assertEqual(other.request("GET", self.server.url).data, BODY)
        self.assertEqual(self.ledger.connections, ())

    def test_pool_of_one_waits_for_its_connection(self) -> None:
        self.serve(answers(chunked(BODY)))
        with Urllib3Transport(pool_size=1).client(self.ledger) as self.client:
            response = self.open()
            with self.assertRaises(EmptyPoolError):
                self.open(pool_timeout=0.001, **self.no_retries)
            self.assertEqual(response.read(), BODY)
            self.assertEqual(self.open().read(), BODY)
        self.assertEqual(self.entry.requests, 2)

    def test_drained_is_read_to_the_end(self) -> None:
        self.serve(answers(chunked(BODY)))
        self.open().drain_conn()
        self.assert_entry(State.IDLE, complete=True)

    def test_given_back_before_it_is_read_is_unread_whatever_follows(self) -> None:
        # Until it was read, another thread's request could have taken the connection.
        self.serve(answers(chunked(BODY)))
        response = self.open(release_conn=True)
        self.assert_entry(State.IDLE, complete=False)
        self.assertEqual(response.read(), BODY)
        self.assert_entry(State.IDLE, complete=False)

    def test_short_body_is_at_its_end_where_the_client_does_not_mind(self) -> None:
        self.serve(answers_and_closes(sized(BODY)[:-1]))
        with self.client.connection_from_url(self.server.url) as pool:
            response = pool.urlopen("GET", "/", preload_content=False, enforce_content_length=False)
            self.assertEqual(response.read(64), BODY[:-1])
            self.assertEqual(response.read(64), b"")
            self.assert_entry(State.IDLE, complete=True)

    def test_close_rings_though_somebody_keeps_the_socket(self) -> None:
        self.serve(silent)
        connection = TrackedHTTPConnection(*self.server.address, ledger=self.ledger)
        connection.connect()
        kept = connection.sock
        with self.ledger.bell.subscribe() as rings:
            connection.close()
            self.assertFalse(rings.empty())
        self.assertEqual((kept.fileno(), self.entry.state), (-1, State.CLOSED))

    def test_connection_without_a_socket_goes_through_the_pool_unrecorded(self) -> None:
        connections = TrackedQueue()
        connection = TrackedHTTPConnection("localhost", 1, ledger=self.ledger)
        connections.put(connection)
        self.assertIs(connections.get(), connection)
        self.assertEqual(self.ledger.connections, ())


class RequestsTest(RequestsMixin, ClientTest):
    """What only requests lets its user do."""

    def test_session_does_not_trust_the_environment(self) -> None:
        self.assertIsInstance(self.client, requests.Session)
        self.assertFalse(self.client.trust_env)

    def test_pools_are_as_large_as_those_of_a_plain_session(self) -> None:
        plain = requests.Session()
        for scheme in ("http://", "https://"):
            ours, theirs = (s.get_adapter(scheme) for s in (self.client, plain))
            self.assertEqual(
                ours.poolmanager.connection_pool_kw, theirs.poolmanager.connection_pool_kw
            )
            self.assertEqual(ours.max_retries.total, theirs.max_retries.total)

    def test_pool_of_one(self) -> None:
        with RequestsTransport(pool_size=1).client(self.ledger) as session:
            options = session.get_adapter("http://").poolmanager.connection_pool_kw
        self.assertEqual(options, {"maxsize": 1, "block": True})

    def test_connection_to_a_proxy_is_tracked(self) -> None:
        self.serve(answers(chunked(BODY)))
        response = self.client.get(
            "http://provider.invalid/v1", proxies={"http": self.server.url}, stream=True
        )
        self.assertEqual(response.content, BODY)
        self.assert_entry(State.IDLE, complete=True)
        self.assertEqual(self.entry.address, self.server.address)
        self.assertIn(b"GET http://provider.invalid/v1 ", self.server.peers[0].requests[0])


class TransportTest(unittest.TestCase):
    def test_each_client_is_fresh(self) -> None:
        for transport in (RequestsTransport(), Urllib3Transport()):
            with transport.client(Ledger()) as first, transport.client(Ledger()) as second:
                self.assertIsNot(first, second)
            self.assertTrue(transport.tracks)

    def test_own_transport_gives_nothing(self) -> None:
        ledger = Ledger()
        with OwnTransport().client(ledger) as client:
            self.assertIsNone(client)
        self.assertFalse(OwnTransport().tracks)
        self.assertEqual(ledger.connections, ())

    def test_transport_shows_its_settings(self) -> None:
        self.assertEqual(repr(OwnTransport()), "OwnTransport()")
        self.assertEqual(
            repr(RequestsTransport(pool_size=1)), "RequestsTransport(pool_size=1, pool_block=True)"
        )

    def test_pool_has_room_for_one_at_least(self) -> None:
        for transport in (RequestsTransport, Urllib3Transport):
            with self.assertRaisesRegex(ValueError, "pool_size of 1 or more, or None, got 0"):
                transport(pool_size=0)

    def test_transport_is_abstract(self) -> None:
        with self.assertRaises(TypeError):
            Transport()  # type: ignore[abstract]
