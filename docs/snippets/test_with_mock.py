"""The usual test of an adapter: the HTTP client is mocked, and the test passes."""

import unittest

import requests
import responses

from modeltest import Finish, Request, TextDelta, user
from modeltest.demo.naive import NaiveModel

BODY = b"""\
data: {"text": "Hello"}

data: {"text": ", world"}

data: {"done": "stop"}

"""


class TestNaiveWithMock(unittest.TestCase):
    """Tests the naive adapter with a mocked response."""

    @responses.activate
    def test_answer(self) -> None:
        """A whole answer gives its text and one Finish."""
        responses.post("http://acme.test/v1/answer", body=BODY)
        model = NaiveModel("http://acme.test", requests.Session(), "key")
        events = list(model.stream(Request(messages=(user("hi"),))))
        self.assertEqual(events, [TextDelta("Hello"), TextDelta(", world"), Finish(reason="stop")])
