"""The ledger by itself: states by evidence, waiting, and what it says."""

import gc
import socket
import threading
import unittest
import weakref
from typing import Never
from unittest import mock

from modeltest.transports import ledger as ledger_module
from modeltest.transports.ledger import Connection, Ledger, State

from .servers import PATIENCE


class LedgerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.ledger = Ledger()
        self.socket = self.new_socket()

    def new_socket(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        self.addCleanup(ours.close)
        return ours

    def opened(self) -> Connection:
        return self.ledger.opened(("127.0.0.1", 80), self.socket)


class StateTest(LedgerTest):
    def test_connection_is_in_use_from_its_opening(self) -> None:
        entry = self.opened()
        self.assertEqual(
            (entry.state, entry.complete, entry.requests, entry.reused, entry.address),
            (State.IN_USE, False, 0, 0, ("127.0.0.1", 80)),
        )
        self.assertEqual(self.views(), ((entry,),) * 3)

    def test_given_back_after_the_whole_response_is_released(self) -> None:
        entry = self.opened()
        entry.given_back(complete=True)
        self.assertEqual((entry.state, entry.complete, entry.released), (State.IDLE, True, True))
        self.assertEqual(self.views(), ((entry,), (), ()))

    def test_given_back_in_mid_body_is_not_released(self) -> None:
        entry = self.opened()
        entry.given_back(complete=False)
        self.assertEqual((entry.state, entry.released), (State.IDLE, False))
        self.assertEqual(self.views(), ((entry,), (), (entry,)))

    def test_taken_out_again_is_in_use(self) -> None:
        entry = self.opened()
        entry.given_back(complete=True)
        entry.taken_out()
        self.assertEqual(entry.state, State.IN_USE)

    def test_next_request_has_a_response_of_its_own(self) -> None:
        entry = self.opened()
        entry.request_sent()
        entry.given_back(complete=True)
        entry.taken_out()
        entry.request_sent()
        self.assertEqual((entry.requests, entry.reused, entry.complete), (2, 1, False))

    def test_closed_socket_is_closed(self) -> None:
        entry = self.opened()
        self.socket.close()
        self.assertEqual((entry.state, entry.released), (State.CLOSED, True))
        self.assertEqual(self.views(), ((entry,), (), ()))

    def test_socket_whose_file_is_open_is_not_closed_by_close(self) -> None:
        entry = self.opened()
        with self.socket.makefile("rb"):
            self.socket.close()
            self.assertEqual(entry.state, State.IN_USE)
        self.assertEqual(entry.state, State.CLOSED)

    def test_collected_socket_is_closed_without_a_call(self) -> None:
        class Socket:
            def fileno(self) -> int:
                return 3

        sock = Socket()
        entry = self.ledger.opened(("127.0.0.1", 80), sock)
        self.assertEqual(entry.state, State.IN_USE)
        del sock
        gc.collect()  # only for interpreters without reference counts
        self.assertEqual(entry.state, State.CLOSED)

    def test_ledger_keeps_no_socket_alive(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            alive = weakref.ref(ours)
            self.ledger.opened(("127.0.0.1", 80), ours)
        del ours
        gc.collect()
        self.assertIsNone(alive())

    def views(self) -> tuple[tuple[Connection, ...], ...]:
        return self.ledger.connections, self.ledger.in_use, self.ledger.unreleased


class WaitTest(LedgerTest):
    def test_every_change_rings(self) -> None:
        entry = self.opened()
        changes = {
            "opened": self.opened,
            "request sent": entry.request_sent,
            "given back": lambda: entry.given_back(complete=True),
            "taken out": entry.taken_out,
            "closed": entry.changed,
        }
        for name, change in changes.items():
            with self.subTest(name), self.ledger.bell.subscribe() as rings:
                change()
                self.assertFalse(rings.empty())

    def test_end_of_a_socket_rings_without_a_call(self) -> None:
        ours, theirs = socket.socketpair()
        entry = self.ledger.opened(("127.0.0.1", 80), ours)
        with self.ledger.bell.subscribe() as rings:
            ours.close()
            theirs.close()
            self.assertEqual((entry.state, rings.empty()), (State.CLOSED, True))
            del ours
            gc.collect()
            self.assertFalse(rings.empty())

    def test_nobody_listens_after_the_wait(self) -> None:
        entry = self.opened()
        with self.ledger.bell.subscribe() as outer:
            with self.ledger.bell.subscribe() as inner:
                pass
            entry.changed()
        entry.changed()
        self.assertEqual((outer.qsize(), inner.qsize()), (1, 0))

    def test_true_at_once_needs_no_time(self) -> None:
        self.assertTrue(self.ledger.wait(lambda: True, 0))

    def test_false_at_the_end_of_time(self) -> None:
        self.assertFalse(self.ledger.wait(lambda: False, 0))
        self.assertFalse(self.ledger.wait(lambda: False, 0.03))

    def test_change_without_a_ring_is_found(self) -> None:
        entry = self.opened()
        looks: list[State] = []

        def closed_at_the_last_two_looks() -> bool:
            looks.append(entry.state)
            self.socket.close()  # tells nobody
            return looks[1:] == [State.CLOSED, State.CLOSED]

        self.assertTrue(self.ledger.wait(closed_at_the_last_two_looks, PATIENCE))

    def test_change_in_another_thread_is_seen(self) -> None:
        entry = self.opened()
        asked = threading.Event()

        def idle() -> bool:
            asked.set()
            return entry.state is State.IDLE

        def give_back() -> None:
            asked.wait(PATIENCE)
            entry.given_back(complete=True)

        thread = threading.Thread(target=give_back)
        thread.start()
        self.assertTrue(self.ledger.wait(idle, PATIENCE))
        thread.join(PATIENCE)

    def test_error_of_the_predicate_passes_through(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            self.ledger.wait(lambda: 1 // 0, PATIENCE)

    def test_ring_inside_the_lock_of_the_bell_does_not_block(self) -> None:
        # As a weak reference's callback may: the collector runs where it likes.
        entry = self.opened()
        with self.ledger.bell.lock:
            entry.changed()


class DescribeTest(LedgerTest):
    def setUp(self) -> None:
        super().setUp()
        self.enterContext(mock.patch.object(ledger_module, "calling_place", lambda frame: "x:1"))

    def test_nothing(self) -> None:
        self.assertEqual(self.ledger.describe(), ["no connection was opened"])

    def test_alike_ones_share_a_line_and_unreleased_ones_come_first(self) -> None:
        idle, unread = self.opened(), self.opened()
        idle.given_back(complete=True)
        unread.given_back(complete=False)
        self.opened()
        self.opened()
        closed = self.new_socket()
        self.ledger.opened(("127.0.0.1", 80), closed)
        closed.close()
        self.assertEqual(
            self.ledger.describe(),
            [
                "1 connection idle with an unread response: opened at x:1",
                "2 connections in use: opened at x:1",
                "1 connection idle: opened at x:1",
                "1 connection closed: opened at x:1",
            ],
        )

    def test_repr_names_the_address(self) -> None:
        self.assertEqual(repr(self.opened()), "<Connection to 127.0.0.1:80, in use: opened at x:1>")


class AllReleasedTest(LedgerTest):
    def test_passes_when_nothing_is_left(self) -> None:
        with self.ledger.all_released(timeout=0):
            self.opened().given_back(complete=True)

    def test_nothing_seen_is_no_proof(self) -> None:
        with (
            self.assertRaisesRegex(AssertionError, "to see 1 connection at least, it saw 0: "),
            self.ledger.all_released(timeout=0),
        ):
            pass
        with self.ledger.all_released(timeout=0, at_least=0):
            pass

    def test_waits_for_what_another_thread_releases(self) -> None:
        entry = self.opened()
        thread = threading.Thread(target=entry.given_back, kwargs={"complete": True})
        with self.ledger.all_released(timeout=PATIENCE):
            thread.start()
        thread.join(PATIENCE)

    def test_names_line_and_fix_of_what_is_left(self) -> None:
        with self.assertRaises(AssertionError) as caught, self.ledger.all_released(timeout=0):
            entry = self.opened()
        self.assertEqual(
            str(caught.exception).splitlines(),
            [
                "expected every connection to be released, but 0 s after the block:",
                f"  1 connection in use: opened at {entry.opened}",
                (
                    "  fix: close the response on every way out of the read loop: "
                    "`with response:` or try/finally around it"
                ),
            ],
        )
        self.assertIn("test_ledger.py", str(entry.opened))

    def test_unread_response_has_another_fix(self) -> None:
        with self.assertRaises(AssertionError) as caught, self.ledger.all_released(timeout=0):
            self.opened().given_back(complete=False)
        self.assertIn("fix: do not call release_conn()", str(caught.exception))
        self.assertNotIn("with response", str(caught.exception))

    def test_error_of_the_block_is_not_hidden(self) -> Never:
        with self.assertRaises(ZeroDivisionError), self.ledger.all_released(timeout=0):
            self.opened()
            raise ZeroDivisionError


class ThreadsTest(LedgerTest):
    def test_threads_lose_no_entry(self) -> None:
        def work() -> None:
            for _ in range(200):
                entry = self.opened()
                entry.request_sent()
                entry.given_back(complete=True)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        waited = self.ledger.wait(lambda: len(self.ledger.connections) == 1600, PATIENCE)
        for thread in threads:
            thread.join(PATIENCE)
        self.assertTrue(waited)
        self.assertEqual({entry.requests for entry in self.ledger.connections}, {1})
        self.assertEqual(self.ledger.unreleased, ())
