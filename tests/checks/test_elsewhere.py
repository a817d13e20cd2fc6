"""Requests to elsewhere are caught, those of bystanders are not, and nothing stays patched."""

import threading
import unittest
from contextlib import suppress
from typing import Any

import requests
import responses
from requests.adapters import HTTPAdapter

from modeltest.backend import Response, Send
from modeltest.delivery import ServedContext, run
from modeltest.harness import Check
from modeltest.transports import Caught, caught_elsewhere
from modeltest.transports.elsewhere import in_place

from .targets import check, target

REAL = HTTPAdapter.send
FAR = "https://api.example.com/v1/chat?key=abc&q=1"


class TestCaught(unittest.TestCase):
    def setUp(self) -> None:
        self.caught: list[Caught] = []
        self.errors: list[BaseException] = []
        self.answered: list[str] = []

    def judged(self, send: Any) -> Check:
        """Return a check that calls `send(url of the backend)` where an adapter would run."""

        def judge(context: ServedContext) -> None:
            with context.case("", Response((Send(b"here"),))) as case:
                with caught_elsewhere(case.bystanders) as caught:
                    thread = threading.Thread(target=send, args=(case.backend.url,))
                    thread.start()
                    thread.join()
                self.caught = caught

        return check(judge)

    def post(self, url: str, **options: Any) -> None:
        try:
            self.answered.append(requests.post(url, timeout=5, **options).text)
        except requests.RequestException as error:
            self.errors.append(error)

    def test_a_request_to_another_machine_is_caught_and_fails(self) -> None:
        run(self.judged(lambda _: self.post(FAR, json={"a": 1})), target())
        (caught,) = self.caught
        self.assertEqual(caught, Caught("POST", FAR, b'{"a": 1}'))
        shown = 'POST https://api.example.com/v1/chat?key=[redacted]&q=1\n{"a": 1}'
        self.assertEqual(caught.summary, shown)
        self.assertNotIn(FAR, repr(caught))
        (error,) = self.errors
        self.assertIsInstance(error, requests.ConnectionError)
        self.assertEqual(str(error), "modeltest refused to connect to api.example.com")

    def test_bodies_that_come_in_pieces_are_not_read(self) -> None:
        run(self.judged(lambda _: self.post(FAR, data=iter([b"a"]))), target())
        self.assertEqual([one.body for one in self.caught], [None])
        self.assertTrue(self.caught[0].summary.startswith("POST https://api.example.com/"))
        run(self.judged(lambda _: self.post(FAR, data="é")), target())
        self.assertEqual([one.body for one in self.caught], ["é".encode()])

    def test_a_request_to_this_machine_passes_however_it_is_spelled(self) -> None:
        def send(url: str) -> None:
            self.post(url)
            self.post(url.replace("127.0.0.1", "localhost"))

        run(self.judged(send), target())
        self.assertEqual(self.answered, ["here", "here"])
        self.assertEqual(self.caught, [])

    def test_other_threads_are_let_through(self) -> None:
        go, done = threading.Event(), threading.Event()

        def bystander() -> None:
            go.wait(10)
            # A name that nobody has: what is let through fails in another way.
            self.post("http://nowhere.invalid/")
            done.set()

        thread = threading.Thread(target=bystander)
        thread.start()
        run(self.judged(lambda _: (go.set(), done.wait(10))), target())
        thread.join()
        self.assertEqual(self.caught, [])
        self.assertNotIn("modeltest", str(self.errors[0]))

    def test_nothing_stays_patched(self) -> None:
        def failing(url: str) -> None:
            raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            run(check(lambda context: self._raise_inside(context)), target())
        self.assertIs(HTTPAdapter.send, REAL)

    def _raise_inside(self, context: ServedContext) -> None:
        with context.case("") as case, caught_elsewhere(case.bystanders):
            self.assertIsNot(HTTPAdapter.send, REAL)
            raise KeyboardInterrupt

    def test_two_threads_take_turns(self) -> None:
        inside = threading.Event()
        order: list[str] = []

        def second() -> None:
            inside.wait(10)
            with in_place(responses.RequestsMock()):
                order.append("second")

        thread = threading.Thread(target=second)
        thread.start()
        with in_place(responses.RequestsMock()):
            inside.set()
            thread.join(0.05)
            order.append("first")
        thread.join()
        self.assertEqual(order, ["first", "second"])
        self.assertIs(HTTPAdapter.send, REAL)


if __name__ == "__main__":
    unittest.main()
