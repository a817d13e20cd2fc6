"""What a case says, and leaves unsaid, of adapters that are not what it expects."""

import socket
import unittest
from urllib.parse import urlsplit

from modeltest.checks import BY_NAME, Status, run
from modeltest.contract import ModelError, TextDelta
from modeltest.demo.acme import AcmeModel

from .subjects import subject

BOUNDED = BY_NAME["delivery/bounded"]


class RefusesComments(AcmeModel):
    """Reads no more once a comment has come."""

    def stream(self, request):
        with self._session.post(self._url, json={}, stream=True) as response:
            if response.raw.read1(2).startswith(b":"):
                raise ModelError("a comment")
            yield TextDelta("a word")


class MakesItUp(AcmeModel):
    """Gives an event without asking anybody."""

    def stream(self, request):
        yield TextDelta("made up")


class SpeaksNoHTTP(AcmeModel):
    """Sends bytes that are no request."""

    def stream(self, request):
        address = urlsplit(self._url)
        with socket.create_connection((address.hostname, address.port), timeout=2) as connection:
            connection.sendall(b"no request at all\r\n\r\n")
            connection.recv(1000)
        raise ValueError("that was no answer")
        yield


def made(model):
    return subject(new_model=lambda base_url, client: model(base_url, client, "key"))


class TestBounded(unittest.TestCase):
    def test_the_careful_adapter_is_judged(self):
        self.assertEqual(run(BOUNDED, subject()).status, Status.PASSED)

    def test_a_reader_without_comments_is_not_judged(self):
        outcome = run(BOUNDED, made(RefusesComments))
        self.assertEqual(outcome.status, Status.SKIPPED)
        self.assertIn("follows a comment (it raised ModelError: a comment)", outcome.text)

    def test_an_answer_without_a_request_is_not_judged(self):
        self.assertEqual(run(BOUNDED, made(MakesItUp)).status, Status.SKIPPED)


class TestMalformedRequests(unittest.TestCase):
    def test_they_are_evidence(self):
        outcome = run(BY_NAME["truncation/clean"], made(SpeaksNoHTTP))
        self.assertEqual(outcome.status, Status.FAILED)
        self.assertIn("server   received what is no HTTP/1 request: ", outcome.text)
