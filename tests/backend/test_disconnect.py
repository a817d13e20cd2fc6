"""The peer's leaving is seen at once, whatever the script is doing, and FIN is told from RST."""

import socket
import unittest

from modeltest.backend.backend import Backend
from modeltest.backend.exchange import Disconnect
from modeltest.backend.response import Framing, Response
from modeltest.backend.steps import Await, Close, End, Flood, Pause, Repeat, Send, Stall, writes
from modeltest.threads import Progress
from tests.backend.client import PATIENCE, POST, Client

FOR_EVER = 10**6  # seconds, or events

SCRIPTS = {
    "pause": Response((Send(b"!"), Pause(FOR_EVER))),
    "stall": Response((Send(b"!"), Stall())),
    "stall after the end": Response((Send(b"!"), End(), Stall())),
    "await": Response((Send(b"!"), Await(Progress(), 1))),
    "await at most": Response((Send(b"!"), Await(Progress(), 1, at_most=FOR_EVER))),
    "repeat slowly": Response((Repeat(lambda i: b"!", interval=FOR_EVER),)),
    "repeat": Response((Repeat(lambda i: b"!"),)),
    "repeat without a pause": Response((Repeat(lambda i: b"!" * 999, interval=0),)),
    "flood": Response((Flood(lambda i: b"!" * 999, 10**12),)),
    "a large write": Response((Send(b"!" * 50_000_000),)),
    "many small writes": Response((writes(b"!" * 5_000_000, 1),)),
    "by length": Response((Send(b"!"), Stall()), framing=Framing.LENGTH),
    "by close": Response((Send(b"!"), Stall()), framing=Framing.CLOSE),
    "after our FIN": Response((Send(b"!"), Close())),
    "after our FIN at the end": Response((Send(b"!"),), framing=Framing.CLOSE),
    "idle, kept alive": Response((Send(b"!"),)),
}


def left(backend, number=1):
    """Return how the peer left each of so many exchanges, once it has left them all."""
    assert backend.wait(
        lambda: (
            len(backend.exchanges) == number
            and all(exchange.disconnected is not None for exchange in backend.exchanges)
        ),
        PATIENCE,
    ), backend.exchanges
    return [exchange.disconnected for exchange in backend.exchanges]


class TestLeaving(unittest.TestCase):
    def test_a_reset_is_seen_during_every_step(self):
        for name, response in SCRIPTS.items():
            with self.subTest(name), Backend(response) as backend, Client(backend) as client:
                client.send().until(b"!")
                client.reset()
                self.assertEqual(left(backend), [Disconnect.RST])

    def test_a_fin_is_seen_during_every_step(self):
        for name, response in SCRIPTS.items():
            with self.subTest(name), Backend(response) as backend, Client(backend) as client:
                client.send().until(b"!")
                # A close() with unread data would be a RST.
                client.socket.shutdown(socket.SHUT_WR)
                self.assertEqual(left(backend), [Disconnect.FIN])

    def test_before_the_head(self):
        for step in Pause(FOR_EVER), Stall(), Await(Progress(), 1):
            for leave, how in (Client.close, Disconnect.FIN), (Client.reset, Disconnect.RST):
                with self.subTest(step=step, how=how):
                    with Backend(Response(before=(step,))) as backend:
                        leave(Client(backend).send())
                        self.assertEqual(left(backend), [how])

    def test_between_two_requests(self):
        for leave, how in (Client.close, Disconnect.FIN), (Client.reset, Disconnect.RST):
            with self.subTest(how), Backend(Response((Send(b"!"),))) as backend:
                client = Client(backend)
                for _ in range(2):
                    client.send().until(b"0\r\n\r\n")
                leave(client)
                # The connection is gone, and so every exchange that it carried.
                self.assertEqual(left(backend, 2), [how, how])

    def test_with_the_request_itself(self):
        with Backend(Response((Send(b"!"), Stall()))) as backend:
            with Client(backend) as client:
                client.send().socket.shutdown(socket.SHUT_WR)
                self.assertEqual(left(backend), [Disconnect.FIN])
                client.rest()

    def test_behind_data_that_nobody_asked_for(self):
        with Backend(Response((Stall(),))) as backend, Client(backend) as client:
            client.send(POST + POST).head()
            client.send(b"x" * 1_000_000)
            client.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(left(backend), [Disconnect.FIN])

    def test_a_leaving_is_told_once_and_has_its_time(self):
        with Backend(Response((Stall(),))) as backend, Client(backend) as client:
            client.send().head()
            exchange = backend.exchanges[0]
            self.assertIsNone(exchange.disconnected_at)
            client.close()
            left(backend)
            self.assertGreaterEqual(exchange.disconnected_at, exchange.received)

    def test_stopping_is_no_leaving(self):
        with Backend(Response((Stall(),))) as backend, Client(backend) as client:
            client.send().head()
            exchange = backend.exchanges[0]
            backend.stop()
            self.assertIsNone(exchange.disconnected)

    def test_one_peer_of_two_leaves(self):
        with Backend(Response((Stall(),))) as backend:
            with Client(backend) as one, Client(backend) as other:
                one.send().head()
                other.send().head()
                one.close()
                first, second = backend.exchanges
                self.assertTrue(first.wait(lambda: first.disconnected is not None, PATIENCE))
                self.assertIsNone(second.disconnected)

    def test_a_peer_that_stays_after_our_fin_is_waited_for(self):
        with Backend(Response((Send(b"!"), Close()))) as backend, Client(backend) as client:
            client.send().rest()
            client.send()  # a request that can have no answer, and is none for the record
            exchange = backend.exchanges[0]
            self.assertIsNone(exchange.disconnected)
            client.close()
            self.assertEqual(left(backend), [Disconnect.FIN])
