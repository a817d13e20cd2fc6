"""A parser by itself, in memory: from the bytes of a body to the events of a turn."""

import unittest
from collections.abc import Iterator
from typing import BinaryIO

from modeltest import Event, SSEReaderTestCase, check_sse_prefixes, read_sse
from modeltest.wire import OpenAIChat

from .events import ChatError
from .openai_chat import Turn
from .reading import SSEDecoder
from .test_openai_chat import to_kit

RECORDED = b"""\
data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello"}}]}

data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

data: [DONE]

"""


def read_chat(body: BinaryIO) -> Iterator[Event]:
    """Yield the kit's events of a body of OpenAI Chat Completions."""
    decoder, turn = SSEDecoder(), Turn()
    while chunk := body.read(65536):
        for data in decoder.feed(chunk):
            yield from map(to_kit, turn.take(data))
    yield from map(to_kit, turn.finish())


class TestChatReader(SSEReaderTestCase):
    """The wire format encodes the bodies, and says what each means."""

    wire = OpenAIChat(reasoning="reasoning_content")
    stream_sse = read_chat
    model_error = ChatError


class TestOneBody(unittest.TestCase):
    """The functions under the test case, for tests of your own."""

    def test_a_recorded_answer(self) -> None:
        """It is read whole, and every cut of it is an error or the same turn."""
        result = read_sse(read_chat, RECORDED, model_error=ChatError)
        self.assertEqual(result.message and result.message.text, "Hello")
        check_sse_prefixes(read_chat, RECORDED, model_error=ChatError)
