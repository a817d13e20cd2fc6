"""The readers by themselves, in memory: from the bytes of a body to the events of a turn."""

import unittest
from collections.abc import Iterator
from typing import BinaryIO

from modeltest import (
    APIError,
    Event,
    SSEReaderTestCase,
    as_urllib3_response,
    check_sse_prefixes,
    read_sse,
)
from modeltest.wire import AnthropicMessages, OpenAIChat

from .anthropic_messages_turn import MessagesTurn
from .file_body import FileBody
from .http_body import HTTPBody
from .openai_chat_turn import ChatTurn
from .read_turn import read_turn

RECORDED = b"""\
data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello"}}]}

data: {"choices": [{"index": 0, "delta": {"content": ", world"}, "finish_reason": null}]}

data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

data: [DONE]

"""
OVERLOADED = b'data: {"error": {"type": "overloaded_error", "message": "try later"}}\n\n'


def read_chat(body: BinaryIO) -> Iterator[Event]:
    """Yield the events of a body of OpenAI Chat Completions."""
    return read_turn(FileBody(body), ChatTurn())


class TestChatReader(SSEReaderTestCase):
    """The wire format makes the bodies, and knows what each means."""

    stream_sse = read_chat
    wire = OpenAIChat(reasoning="reasoning_content")


class TestMessagesReader(SSEReaderTestCase):
    """A parser may be a method, too."""

    wire = AnthropicMessages()

    def stream_sse(self, body: BinaryIO) -> Iterator[Event]:
        """Yield the events of a body of Anthropic Messages."""
        return read_turn(FileBody(body), MessagesTurn())


class TestRecordedBody(SSEReaderTestCase):
    """One recorded answer is enough; and a parser may take a response instead of a file."""

    bodies = {"hello": RECORDED}

    def stream_sse(self, body: BinaryIO) -> Iterator[Event]:
        """Yield the events of a urllib3 response."""
        return read_turn(HTTPBody(as_urllib3_response(body)), ChatTurn())


class TestOneBody(unittest.TestCase):
    """The functions below the test case, for tests of your own."""

    def test_an_answer(self) -> None:
        """A whole body gives its message and no error."""
        result = read_sse(read_chat, RECORDED)
        self.assertIsNone(result.error)
        self.assertEqual(result.message and result.message.text, "Hello, world")

    def test_an_error(self) -> None:
        """An error in the stream raises the text that the provider sent."""
        error = read_sse(read_chat, OVERLOADED).error
        self.assertIsInstance(error, APIError)
        self.assertIn("try later", str(error))

    def test_every_cut(self) -> None:
        """Every cut of a body is an error, or the same turn."""
        check_sse_prefixes(read_chat, RECORDED)
