"""Every step in every framing, byte by byte over a bare socket, and as `requests` reads it."""

import itertools
import unittest

import requests

from modeltest.backend.backend import Backend
from modeltest.backend.exchange import Disconnect
from modeltest.backend.response import Framing, Response
from modeltest.backend.steps import (
    Await,
    Close,
    CloseInsideChunk,
    End,
    Flood,
    Pause,
    Repeat,
    Reset,
    Send,
    Stall,
    events,
    writes,
)
from modeltest.threads import Progress
from tests.backend.client import PATIENCE, POST, Client, chunks

TWO = events([b"data: 1\n\n", b"data: 2\n\n"])
BODY = b"data: 1\n\ndata: 2\n\n"


class TestFraming(unittest.TestCase):
    def receive(self, response, request=POST):
        """Return head and rest; the connection must end by itself."""
        with Backend(response) as backend, Client(backend) as client:
            head, rest = client.send(request).head(), client.rest()
            client.close()
            exchange = backend.exchanges[0]
            self.assertTrue(backend.wait(lambda: exchange.disconnected is not None, PATIENCE))
        return head, rest, exchange

    def test_chunked_is_one_chunk_a_write_and_keeps_the_connection(self):
        with Backend(Response(TWO)) as backend, Client(backend) as client:
            for _ in range(2):
                head = client.send().head()
                self.assertTrue(head.startswith("HTTP/1.1 200 OK\r\n"))
                self.assertIn("\r\nTransfer-Encoding: chunked\r\n", head)
                self.assertIn("\r\nContent-Type: text/event-stream\r\n", head)
                body = client.until(b"0\r\n\r\n")
                self.assertEqual(chunks(body), [b"data: 1\n\n", b"data: 2\n\n", b""])
            self.assertEqual(backend.connections, 1)
            for exchange in backend.exchanges:
                self.assertTrue(exchange.wait(lambda e=exchange: e.ended, PATIENCE))
                self.assertEqual((exchange.sent_bytes, exchange.sent_events), (len(BODY), 2))

    def test_length_keeps_the_connection(self):
        response = Response(TWO, framing=Framing.LENGTH)
        with Backend(response) as backend, Client(backend) as client:
            for _ in range(2):
                self.assertIn(f"\r\nContent-Length: {len(BODY)}\r\n", client.send().head())
                self.assertEqual(client.exactly(len(BODY)), BODY)
            self.assertEqual(backend.connections, 1)

    def test_close_is_http_1_0(self):
        head, rest, exchange = self.receive(Response(TWO, framing=Framing.CLOSE))
        self.assertTrue(head.startswith("HTTP/1.0 200 OK\r\n"))
        self.assertIn("\r\nConnection: close\r\n", head)
        self.assertNotIn("Length", head)
        self.assertEqual(rest, BODY)
        self.assertTrue(exchange.ended)
        self.assertIs(exchange.disconnected, Disconnect.FIN)

    def test_an_http_1_0_client_gets_no_chunks(self):
        head, rest, _ = self.receive(Response(TWO), b"GET / HTTP/1.0\r\n\r\n")
        self.assertNotIn("Transfer-Encoding", head)
        self.assertEqual(rest, BODY)

    def test_a_client_that_will_close_is_closed_and_seen_off(self):
        request = b"POST / HTTP/1.1\r\nConnection: close\r\n\r\n"
        _, rest, exchange = self.receive(Response(TWO), request)
        self.assertEqual(chunks(rest), [b"data: 1\n\n", b"data: 2\n\n", b""])
        self.assertIs(exchange.disconnected, Disconnect.FIN)

    def test_a_shorter_body_than_claimed_ends_by_closing_and_is_not_ended(self):
        head, rest, exchange = self.receive(Response(TWO, framing=Framing.LENGTH, length=99))
        self.assertIn("Content-Length: 99", head)
        self.assertEqual(rest, BODY)
        self.assertFalse(exchange.ended)

    def test_a_longer_body_than_claimed_ends_by_closing(self):
        head, rest, exchange = self.receive(Response(TWO, framing=Framing.LENGTH, length=3))
        self.assertIn("Content-Length: 3", head)
        self.assertEqual(rest, BODY)
        self.assertTrue(exchange.ended)

    def test_status_and_headers_are_the_scripts(self):
        response = Response(
            (Send(b"{}"),),
            status=429,
            content_type=None,
            headers=(("Retry-After", "7"), ("X-Name", "ü")),
        )
        with Backend(response) as backend, Client(backend) as client:
            head = client.send().head()
        self.assertTrue(head.startswith("HTTP/1.1 429 Too Many Requests\r\n"))
        self.assertIn("\r\nRetry-After: 7\r\nX-Name: ü\r\n", head)
        self.assertNotIn("Content-Type", head)

    def test_a_status_outside_the_standard_has_a_phrase_too(self):
        with Backend(Response(status=529)) as backend, Client(backend) as client:
            self.assertTrue(client.send().head().startswith("HTTP/1.1 529 Unknown\r\n"))

    def test_a_head_request_gets_no_body(self):
        with Backend(Response(TWO)) as backend, Client(backend) as client:
            for _ in range(2):
                head = client.send(b"HEAD / HTTP/1.1\r\n\r\n").head()
                self.assertIn("Transfer-Encoding: chunked", head)
            exchange = backend.exchanges[1]
            self.assertTrue(exchange.wait(lambda: exchange.ended, PATIENCE))
            self.assertEqual(exchange.sent_bytes, 0)

    def test_a_status_without_body_has_none(self):
        for status in 204, 304:
            for framing in Framing:
                with self.subTest(status=status, framing=framing):
                    with Backend(Response(TWO, status=status, framing=framing)) as backend:
                        answer = requests.get(backend.url, timeout=PATIENCE)
                        self.assertEqual((answer.status_code, answer.content), (status, b""))
                        self.assertNotIn("Transfer-Encoding", answer.headers)


class TestSteps(unittest.TestCase):
    """Each step under each framing: what comes is its bytes, and the record says what was done."""

    def bodies(self, *steps, length=None):
        """Yield framing, the body as a bare socket gets it (None: a RST), the exchange."""
        for framing in Framing:
            response = Response(steps, framing=framing, length=length)
            with Backend(response) as backend, Client(backend) as client:
                client.send(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").head()
                try:
                    rest = client.rest()
                except ConnectionResetError:
                    rest = None
                client.close()
                exchange = backend.exchanges[0]
                self.assertTrue(
                    backend.wait(lambda e=exchange: e.disconnected or e.reset, PATIENCE)
                )
            yield framing, rest, exchange

    def plain(self, framing, rest):
        return b"".join(chunks(rest)) if framing is Framing.CHUNKED else rest

    def test_send(self):
        for framing, rest, exchange in self.bodies(*TWO):
            self.assertEqual(self.plain(framing, rest), BODY)
            self.assertEqual((exchange.sent_events, exchange.sent_bytes), (2, len(BODY)))
            self.assertTrue(exchange.ended)

    def test_send_in_pieces(self):
        for framing, rest, exchange in self.bodies(writes(b"abcdefg", 3)):
            self.assertEqual(self.plain(framing, rest), b"abcdefg")
            if framing is Framing.CHUNKED:
                self.assertEqual(chunks(rest), [b"abc", b"def", b"g", b""])
            self.assertEqual(exchange.sent_events, 0)

    def test_nothing_to_send_ends_no_chunked_body(self):
        for framing, rest, _ in self.bodies(Send(b""), Send(b"a", cuts=(0, 1))):
            self.assertEqual(self.plain(framing, rest), b"a")

    def test_writes_at_every_size(self):
        data = bytes(range(20))
        for size in range(1, 22):
            step = writes(data, size)
            edges = (0, *step.cuts, len(data))
            pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
            self.assertEqual(b"".join(pieces), data)
            self.assertEqual({len(p) for p in pieces[:-1]} - {size}, set())

    def test_repeat_and_leaving(self):
        for framing in Framing:
            response = Response(
                (Repeat(lambda i: b"<%d>" % i, interval=0, first=7),), framing=framing, length=10**6
            )
            with self.subTest(framing), Backend(response) as backend, Client(backend) as client:
                client.send()
                client.until(b"<7>")
                client.until(b"<42>")
                exchange = backend.exchanges[0]
                self.assertFalse(exchange.over)
                client.close()
                self.assertTrue(
                    exchange.wait(lambda e=exchange: e.disconnected is not None, PATIENCE)
                )
                self.assertGreaterEqual(exchange.sent_events, 42 - 7)

    def test_flood_ends_at_its_limit_and_stalls(self):
        for framing in Framing:
            response = Response(
                (Flood(lambda i: b"%07d " % i, 4000),), framing=framing, length=4000
            )
            with self.subTest(framing), Backend(response) as backend, Client(backend) as client:
                client.send()
                client.until(b"0000499 ")
                exchange = backend.exchanges[0]
                self.assertTrue(exchange.wait(lambda e=exchange: e.sent_bytes >= 4000, PATIENCE))
                self.assertEqual(exchange.sent_events, 500)
                self.assertFalse(exchange.over)

    def test_flood_notices_a_peer_that_takes_nothing(self):
        flood = Flood(lambda i: b"x" * 100_000, 10**12)
        with Backend(Response((flood,))) as backend, Client(backend) as client:
            client.send()
            self.assertTrue(backend.wait(lambda: backend.exchanges, PATIENCE))
            exchange = backend.exchanges[0]
            self.assertTrue(exchange.wait(lambda: exchange.blocked >= 3, PATIENCE))
            sent = exchange.sent_bytes
            self.assertLess(sent, 10**9)
            client.exactly(sent)
            self.assertTrue(exchange.wait(lambda: exchange.sent_bytes > sent, PATIENCE))

    def test_pause(self):
        for framing, rest, exchange in self.bodies(Send(b"a"), Pause(0.001), Send(b"b"), length=2):
            self.assertEqual(self.plain(framing, rest), b"ab")
            self.assertTrue(exchange.ended)

    def test_await(self):
        for framing in Framing:
            progress = Progress()
            steps = (Send(b"a"), Await(progress, 2), Send(b"b"))
            response = Response(steps, framing=framing)
            with self.subTest(framing), Backend(response) as backend, Client(backend) as client:
                client.send().until(b"a")
                exchange = backend.exchanges[0]
                progress.advance()
                self.assertLessEqual(exchange.sent_bytes, 1)
                progress.advance()
                client.until(b"b")

    def test_await_what_has_happened_already(self):
        progress = Progress()
        progress.advance()
        for framing, rest, _ in self.bodies(Await(progress, 1), Send(b"b")):
            self.assertEqual(self.plain(framing, rest), b"b")

    def test_await_at_most(self):
        for framing, rest, _ in self.bodies(Await(Progress(), 1, at_most=0.001), Send(b"b")):
            self.assertEqual(self.plain(framing, rest), b"b")

    def test_end(self):
        for framing, rest, exchange in self.bodies(Send(b"a"), End(), End()):
            self.assertEqual(self.plain(framing, rest), b"a")
            self.assertTrue(exchange.ended)

    def test_a_socket_kept_open_after_the_end(self):
        for framing in Framing.CHUNKED, Framing.LENGTH:
            response = Response((Send(b"a"), End(), Stall()), framing=framing)
            with self.subTest(framing), Backend(response) as backend, Client(backend) as client:
                client.send().until(b"a")
                exchange = backend.exchanges[0]
                self.assertTrue(exchange.wait(lambda e=exchange: e.ended, PATIENCE))
                self.assertIsNone(exchange.disconnected)
                client.close()
                self.assertTrue(
                    exchange.wait(lambda e=exchange: e.disconnected is not None, PATIENCE)
                )

    def test_close(self):
        for framing, rest, exchange in self.bodies(Send(b"a"), Close(), Send(b"b"), length=9):
            self.assertEqual(rest, b"1\r\na\r\n" if framing is Framing.CHUNKED else b"a")
            self.assertEqual((exchange.ended, exchange.disconnected), (False, Disconnect.FIN))

    def test_close_inside_a_chunk(self):
        step = CloseInsideChunk(b"abc", missing=7)
        for framing, rest, exchange in self.bodies(Send(b"x"), step, length=99):
            if framing is Framing.CHUNKED:
                self.assertEqual(rest, b"1\r\nx\r\na\r\nabc")
            else:
                self.assertEqual(rest, b"xabc")
            self.assertEqual((exchange.ended, exchange.sent_bytes), (False, 4))

    def test_reset(self):
        for _, rest, exchange in self.bodies(Send(b"a"), Reset(), Send(b"b")):
            self.assertIsNone(rest)
            self.assertTrue(exchange.reset)
            self.assertTrue(exchange.over)
            self.assertFalse(exchange.ended)

    def test_steps_before_the_head(self):
        for step, expected in {Close(): b"", Reset(): None}.items():
            response = Response(TWO, before=(step,))
            with self.subTest(step), Backend(response) as backend, Client(backend) as client:
                client.send()
                try:
                    self.assertEqual(client.rest(), expected)
                except ConnectionResetError:
                    self.assertIsNone(expected)

    def test_the_record_names_each_step_with_its_time(self):
        response = Response((Send(b"a"), Pause(0)), before=(Pause(0),))
        with Backend(response) as backend:
            requests.get(backend.url, timeout=PATIENCE)
            exchange = backend.exchanges[0]
        names = [type(played.step).__name__ for played in exchange.steps]
        self.assertEqual(names, ["Pause", "SendHead", "Send", "Pause", "End"])
        times = [exchange.received, *(played.at for played in exchange.steps)]
        self.assertEqual(times, sorted(times))


class TestWithRequests(unittest.TestCase):
    """What an HTTP library makes of the ways a body ends."""

    def read(self, response):
        with Backend(response) as backend, requests.Session() as session:
            with session.get(backend.url, stream=True, timeout=PATIENCE) as answer:
                return b"".join(answer.iter_content(None))

    def test_whole_bodies(self):
        for framing in Framing:
            for steps in TWO, (writes(BODY, 1),), (Send(BODY),), (*TWO, Pause(0), End()):
                with self.subTest(framing=framing, steps=steps):
                    length = len(BODY)
                    self.assertEqual(
                        self.read(Response(steps, framing=framing, length=length)), BODY
                    )

    def test_cut_bodies_that_show(self):
        for framing, steps in itertools.product(
            (Framing.CHUNKED, Framing.LENGTH),
            ((*TWO, Close()), (*TWO, CloseInsideChunk()), (*TWO, Reset()), (Close(),)),
        ):
            with (
                self.subTest(framing=framing, steps=steps),
                self.assertRaises(requests.RequestException),
            ):
                self.read(Response(steps, framing=framing, length=99))

    def test_cut_bodies_that_do_not_show(self):
        for response in (
            Response((TWO[0], End())),
            Response((TWO[0],), framing=Framing.CLOSE),
            Response((TWO[0], Close()), framing=Framing.CLOSE),
        ):
            self.assertEqual(self.read(response), b"data: 1\n\n")

    def test_no_answer_at_all(self):
        for step in Close(), Reset():
            with self.subTest(step), self.assertRaises(requests.ConnectionError):
                self.read(Response(before=(step,)))

    def test_large_request_bodies_in_both_framings(self):
        body = bytes(range(256)) * 80_000
        with Backend(Response(TWO)) as backend:
            requests.post(backend.url, data=body, timeout=PATIENCE)
            requests.post(backend.url, data=iter([body[:7], body[7:]]), timeout=PATIENCE)
            first, second = backend.exchanges
        self.assertEqual(first.headers["Content-Length"], str(len(body)))
        self.assertEqual(second.headers["Transfer-Encoding"], "chunked")
        self.assertTrue(first.body == second.body == body)

    def test_a_session_uses_a_connection_again(self):
        with Backend(Response(TWO)) as backend, requests.Session() as session:
            for _ in range(3):
                session.post(backend.url, json={}, timeout=PATIENCE)
            self.assertEqual(backend.connections, 1)
            self.assertEqual([e.connection for e in backend.exchanges], [0, 0, 0])
