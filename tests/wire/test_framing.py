"""Frames, byte by byte, and their other encodings."""

import json
import unittest

from hypothesis import given
from hypothesis import strategies as st

from modeltest import TextDelta
from modeltest.corpus import re_encodings, whole_bodies
from modeltest.encoding import (
    ARRAY_END,
    array_item,
    event_stream_frame,
    ndjson_line,
    sse_event,
    to_json,
)
from modeltest.wire import Framing, Unsupported
from tests.wire import unframe
from tests.wire.formats import FORMATS, meaning


class TestFrames(unittest.TestCase):
    def test_a_server_sent_event(self) -> None:
        self.assertEqual(sse_event("x"), b"data: x\n\n")
        self.assertEqual(sse_event("\u00e9", event="t"), b"event: t\ndata: \xc3\xa9\n\n")
        self.assertEqual(sse_event("a\nb", eol="\r\n"), b"data: a\r\ndata: b\r\n\r\n")
        self.assertEqual(sse_event(""), b"data: \n\n")

    def test_lines_and_arrays(self) -> None:
        self.assertEqual(ndjson_line("{}"), b"{}\n")
        body = array_item("1", first=True) + array_item("2", first=False) + ARRAY_END
        self.assertEqual(body, b"[1,\r\n2\n]\n")
        self.assertEqual(json.loads(body), [1, 2])

    def test_json_is_compact_and_unescaped(self) -> None:
        self.assertEqual(to_json({"a": ["\u4e16\u2028", None]}), '{"a":["\u4e16\u2028",null]}')
        with self.assertRaises(ValueError):
            to_json(float("inf"))

    def test_a_frame_of_the_binary_event_stream(self) -> None:
        frame = event_stream_frame({":a": "b"}, b"xy")
        header = b"\x02:a\x07\x00\x01b"
        self.assertEqual(frame[:8], bytes([0, 0, 0, 25, 0, 0, 0, 7]))
        self.assertEqual(frame[12:19], header)
        self.assertEqual(frame[19:21], b"xy")
        self.assertEqual(len(frame), 25)
        # The published test vector for CRC-32 fixes which of its variants is meant.
        self.assertEqual(unframe.zlib.crc32(b"123456789"), 0xCBF43926)
        self.assertEqual(int.from_bytes(frame[8:12]), unframe.zlib.crc32(frame[:8]))
        self.assertEqual(int.from_bytes(frame[21:]), unframe.zlib.crc32(frame[:21]))

    def test_a_frame_may_be_empty(self) -> None:
        frame = event_stream_frame({}, b"")
        self.assertEqual(len(frame), 16)
        self.assertEqual(list(unframe.frames(frame)), [({}, b"")])

    @given(st.dictionaries(st.text(max_size=9), st.text(max_size=20), max_size=4), st.binary())
    def test_frames_are_read_back(self, headers: dict[str, str], payload: bytes) -> None:
        frame = event_stream_frame(headers, payload)
        self.assertEqual(list(unframe.frames(frame * 2)), [(headers, payload)] * 2)

    @given(st.text().filter(lambda text: "\r" not in text), st.sampled_from(["\n", "\r\n"]))
    def test_events_are_read_back(self, data: str, eol: str) -> None:
        self.assertEqual(list(unframe.sse(sse_event(data, eol=eol))), [("message", data)])


class TestReEncodings(unittest.TestCase):
    def test_they_mean_the_same(self) -> None:
        for wire, decoder in FORMATS:
            for body in whole_bodies(wire):
                for other in re_encodings(wire.framing):
                    with self.subTest(wire=wire.name, body=body.name, other=other.name):
                        encoded = other.body(body)
                        self.assertEqual(
                            meaning(decoder().read(encoded.data)), meaning(body.events)
                        )
                        self.assertEqual(
                            [part.role for part in encoded.parts],
                            [part.role for part in body.parts],
                        )
                        self.assertIn(other.name, encoded.name)

    def test_each_says_something_else_in_bytes(self) -> None:
        for wire, _ in FORMATS:
            body = whole_bodies(wire)[0]
            same = {
                other.name
                for other in re_encodings(wire.framing)
                if other.body(body).data == body.data
            }
            own = {"\n": "LF", "\r\n": "CRLF"}[wire.eol]
            self.assertLessEqual(same, {own}, wire)

    def test_those_of_one_check_can_be_asked_for(self) -> None:
        names = [other.name for other in re_encodings(Framing.SSE, "line-ends")]
        self.assertEqual(names, ["LF", "CRLF", "CR", "mixed line ends"])
        self.assertEqual(re_encodings(Framing.EVENT_STREAM), ())
        self.assertEqual(re_encodings(Framing.SSE, "no-such-check"), ())

    def re_encoded(self, name: str, *events: bytes) -> tuple[bytes, ...]:
        (other,) = [other for other in re_encodings(Framing.SSE) if other.name == name]
        return other.chunks(events)

    def test_line_ends(self) -> None:
        event = b"event: t\ndata: x\n\n"
        self.assertEqual(self.re_encoded("CR", event), (b"event: t\rdata: x\r\r",))
        self.assertEqual(self.re_encoded("LF", b"data: x\r\n\r\n"), (b"data: x\n\n",))
        # An empty line that ended in LF would make one CRLF of the two.
        mixed = (b"event: t\rdata: x\n\r\n", b"data: y\r\r\n")
        self.assertEqual(self.re_encoded("mixed line ends", event, b"data: y\n\n"), mixed)

    def test_spaces(self) -> None:
        name = "no space after the colon"
        self.assertEqual(self.re_encoded(name, b"event: t\ndata: x\n\n"), (b"event:t\ndata:x\n\n",))
        self.assertEqual(self.re_encoded(name, b"data:  x\n\n"), (b"data:  x\n\n",))
        self.assertEqual(self.re_encoded(name, b"data: \n\n"), (b"data: \n\n",))
        name = "two spaces after the colon"
        self.assertEqual(self.re_encoded(name, b"data: {}\n\n"), (b"data:  {}\n\n",))
        self.assertEqual(self.re_encoded(name, b"data: [DONE]\n\n"), (b"data: [DONE]\n\n",))

    def test_comments(self) -> None:
        inside = self.re_encoded("comments inside events", b"data: x\n\n")
        self.assertEqual(inside, (b":\ndata: x\n: ping\n\n",))
        between = self.re_encoded("comments between events", b"data: x\n\n", b"data: y\n\n")
        self.assertEqual(between[0], b"data: x\n\n: keep-alive\n\n")
        first = self.re_encoded("many comments first", b"data: x\n\n", b"data: y\n\n")
        self.assertEqual(first, (b": ping\n\n" * 300 + b"data: x\n\n", b"data: y\n\n"))

    def test_fields(self) -> None:
        (event,) = self.re_encoded("fields of no meaning", b"event: t\ndata: x\n\n")
        self.assertEqual(event, b"id: 1\nfoo: bar\ndata: x\nretry: 10\nfoo\nevent: t\n\n")
        (event,) = self.re_encoded("fields of no meaning", b"data: x\n\n")
        self.assertIn(b"\nevent: message\n\n", event)
        self.assertEqual(self.re_encoded("fields of no meaning", b"\n"), (b"\n",))

    def test_split_data(self) -> None:
        name = "data over two lines"
        (event,) = self.re_encoded(name, b'data: {"a,b":"{,","c":1}\n\n')
        self.assertEqual(event, b'data: {"a,b":\ndata: "{,","c":1}\n\n')
        self.assertEqual(self.re_encoded(name, b"data: {}\n\n"), (b"data: {\ndata: }\n\n",))
        self.assertEqual(self.re_encoded(name, b"data: [DONE]\n\n"), (b"data: [DONE]\n\n",))

    def test_an_event_that_is_not_whole_is_left_as_it_is(self) -> None:
        for other in re_encodings(Framing.SSE, "line-ends"):
            self.assertEqual(other.chunks([b"data: half"]), (b"data: half",))

    def test_no_event_at_all(self) -> None:
        self.assertEqual(self.re_encoded("a byte order mark"), (b"\xef\xbb\xbf",))
        self.assertEqual(self.re_encoded("CR"), (b"",))

    def test_a_large_event_is_re_encoded_whole(self) -> None:
        text = TextDelta("word {} , " * 20_000)
        for wire, decoder in FORMATS:
            body = wire.encode(text)
            for other in re_encodings(wire.framing):
                self.assertEqual(decoder().read(other.body(body).data), [text], (wire, other.name))


class TestEventsThatNoFramingDefines(unittest.TestCase):
    def test_every_framing_but_the_binary_one_has_a_keep_alive(self) -> None:
        for wire, _ in FORMATS:
            try:
                self.assertTrue(wire.keep_alive.endswith(b"\n"))
            except Unsupported:
                self.assertIs(wire.framing, Framing.EVENT_STREAM)
