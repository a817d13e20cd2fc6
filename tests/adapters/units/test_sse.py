"""The decoder, rule by rule, each body cut at every place."""

from __future__ import annotations

import unittest
from collections.abc import Iterable

from modeltest import ModelError, ResponseTooLargeError
from tests.adapters.sse import ServerSentEvent, SSEDecoder

# rule, name, body, events as data or (type, data)
VECTORS: list[tuple[str, str, bytes, list[str | tuple[str, str]]]] = [
    ("S1 UTF-8", "two-byte character", "data: é\n\n".encode(), ["é"]),
    ("S1 UTF-8", "three-byte character", "data: €\n\n".encode(), ["€"]),
    ("S1 UTF-8", "four-byte character", "data: 🎈\n\n".encode(), ["🎈"]),
    ("S1 UTF-8", "in the type", "event: é\ndata: x\n\n".encode(), [("é", "x")]),
    ("S2 invalid UTF-8", "lone byte", b"data: a\xffb\n\n", ["a\ufffdb"]),
    (
        "S2 invalid UTF-8",
        "half a character before the line end",
        b"data: a\xe2\x82\n\n",
        ["a\ufffd"],
    ),
    ("S2 invalid UTF-8", "half a character, then ASCII", b"data: \xe2\x82x\n\n", ["\ufffdx"]),
    ("S2 invalid UTF-8", "overlong slash", b"data: \xc0\xaf\n\n", ["\ufffd\ufffd"]),
    ("S2 invalid UTF-8", "surrogate", b"data: \xed\xa0\x80\n\n", ["\ufffd\ufffd\ufffd"]),
    (
        "S2 invalid UTF-8",
        "characters are not joined across lines",
        b"data: \xc3\ndata: \xa9\n\n",
        ["\ufffd\n\ufffd"],
    ),
    ("S2 invalid UTF-8", "in an unknown field", b"\xff: x\ndata: y\n\n", ["y"]),
    ("S3 BOM", "before a field", b"\xef\xbb\xbfdata: a\n\n", ["a"]),
    ("S3 BOM", "before a comment", b"\xef\xbb\xbf: c\ndata: a\n\n", ["a"]),
    ("S3 BOM", "on a line of its own", b"\xef\xbb\xbf\ndata: a\n\n", ["a"]),
    ("S3 BOM", "only one is removed", b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", ["b"]),
    ("S3 BOM", "later ones are part of the name", b"data: a\n\n\xef\xbb\xbfdata: b\n\n", ["a"]),
    ("S3 BOM", "in a value it is data", b"data: \xef\xbb\xbfa\n\n", ["\ufeffa"]),
    ("S3 BOM", "two thirds of one", b"\xef\xbbdata: a\n\ndata: b\n\n", ["b"]),
    ("S4 line ends", "LF", b"data: a\n\ndata: b\n\n", ["a", "b"]),
    ("S4 line ends", "CRLF", b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
    ("S4 line ends", "CR", b"data: a\r\rdata: b\r\r", ["a", "b"]),
    ("S4 line ends", "LF then CR", b"data: a\n\rdata: b\n\r", ["a", "b"]),
    ("S4 line ends", "CR then CRLF", b"data: a\r\r\ndata: b\n\n", ["a", "b"]),
    ("S4 line ends", "CRLF then LF", b"data: a\r\n\ndata: b\r\n\n", ["a", "b"]),
    ("S4 line ends", "all three in one event", b"data: a\rdata: b\ndata: c\r\n\r\n", ["a\nb\nc"]),
    ("S4 line ends", "U+2028 is text", "data: a\u2028b\n\n".encode(), ["a\u2028b"]),
    ("S4 line ends", "U+2029 is text", "data: a\u2029b\n\n".encode(), ["a\u2029b"]),
    ("S4 line ends", "U+0085 is text", "data: a\u0085b\n\n".encode(), ["a\u0085b"]),
    ("S4 line ends", "VT and FF are text", b"data: a\x0bb\x0cc\n\n", ["a\x0bb\x0cc"]),
    ("S4 line ends", "FS, GS and RS are text", b"data: a\x1cb\x1dc\x1ed\n\n", ["a\x1cb\x1dc\x1ed"]),
    ("S4 line ends", "byte 0x85 is no line end", b"data: a\x85b\n\n", ["a\ufffdb"]),
    ("S5 CR at once", "the last event ends in CR CR", b"data: a\r\r", ["a"]),
    (
        "S5 CR at once",
        "the LF of a split CRLF is swallowed",
        b"data: a\r\ndata: b\r\n\r\n",
        ["a\nb"],
    ),
    ("S6 blank lines", "several", b"\n\n\ndata: a\n\n\n\ndata: b\n\n\n", ["a", "b"]),
    ("S6 blank lines", "a space is no blank line", b"data: a\n \n\n", ["a"]),
    ("S7 comments", "empty", b":\ndata: a\n\n", ["a"]),
    ("S7 comments", "within an event", b"data: a\n: c\ndata: b\n\n", ["a\nb"]),
    ("S7 comments", "that looks like data", b":data: a\n\ndata: b\n\n", ["b"]),
    ("S7 comments", "alone fires nothing", b": ping\n\n: ping\n\n", []),
    ("S7 comments", "a space before makes a field", b" : c\ndata: a\n\n", ["a"]),
    ("S8 value", "no space", b"data:a\n\n", ["a"]),
    ("S8 value", "two spaces: one stays", b"data:  a\n\n", [" a"]),
    ("S8 value", "a tab stays", b"data:\ta\n\n", ["\ta"]),
    ("S8 value", "trailing spaces stay", b"data: a  \n\n", ["a  "]),
    ("S8 value", "colons stay", b"data: a: b:c\n\n", ["a: b:c"]),
    ("S8 value", "only a colon", b"data: :\n\n", [":"]),
    ("S8 value", "only a space is empty", b"data: \n\n", [""]),
    ("S9 no colon", "data", b"data\n\n", [""]),
    ("S9 no colon", "data twice", b"data\ndata\n\n", ["\n"]),
    ("S9 no colon", "event resets the type", b"event: a\nevent\ndata: x\n\n", ["x"]),
    ("S9 no colon", "unknown", b"hello\ndata: x\n\n", ["x"]),
    ("S10 names", "case", b"Data: a\nDATA: b\ndata: c\n\n", ["c"]),
    ("S10 names", "space before", b" data: a\ndata: b\n\n", ["b"]),
    ("S10 names", "space before the colon", b"data : a\ndata: b\n\n", ["b"]),
    ("S10 names", "NUL", b"data\x00: a\n\x00data: b\ndata: c\n\n", ["c"]),
    ("S10 names", "longer and shorter", b"datas: a\ndat: b\ndata: c\n\n", ["c"]),
    ("S10 names", "unknown", b"foo: bar\ndata: a\n\n", ["a"]),
    ("S11a event", "type", b"event: ping\ndata: a\n\n", [("ping", "a")]),
    ("S11a event", "the last wins", b"event: a\nevent: b\ndata: x\n\n", [("b", "x")]),
    ("S11a event", "empty is message", b"event:\ndata: a\n\n", ["a"]),
    ("S11a event", "after the data", b"data: a\nevent: ping\n\n", [("ping", "a")]),
    (
        "S11a event",
        "for one event only",
        b"event: ping\ndata: a\n\ndata: b\n\n",
        [("ping", "a"), "b"],
    ),
    ("S11b data", "several lines", b"data: a\ndata: b\ndata: c\n\n", ["a\nb\nc"]),
    ("S11b data", "empty lines count", b"data:\ndata: a\ndata:\n\n", ["\na\n"]),
    ("S11b data", "NUL is data", b"data: a\x00b\n\n", ["a\x00b"]),
    ("S11c id", "is no data", b"id: 7\ndata: a\n\n", ["a"]),
    ("S11d retry", "is no data", b"retry: 10\ndata: a\n\n", ["a"]),
    ("S12 dispatch", "without data nothing fires", b"event: ping\nid: 1\n\n", []),
    ("S12 dispatch", "a type without data does not leak", b"event: ping\n\ndata: a\n\n", ["a"]),
    ("S12 dispatch", "one LF is dropped", b"data: a\ndata\n\n", ["a\n"]),
    ("S13 end", "no blank line", b"data: a\n\ndata: b\n", ["a"]),
    ("S13 end", "no line end", b"data: a\n\ndata: b", ["a"]),
    ("S13 end", "within a name", b"data: a\n\nda", ["a"]),
    ("S13 end", "empty body", b"", []),
    ("S13 end", "half a BOM", b"\xef\xbb", []),
    ("S13 end", "only a type", b"event: done\n", []),
]


def decode(chunks: Iterable[bytes], **options: int) -> list[ServerSentEvent]:
    decoder = SSEDecoder(**options)
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def cuts(body: bytes) -> Iterable[list[bytes]]:
    for size in (1, 2, 3, 7, len(body) or 1):
        yield [body[at : at + size] for at in range(0, len(body), size)]
    for at in range(len(body) + 1):
        yield [body[:at], b"", body[at:]]


class TestRules(unittest.TestCase):
    def test_every_vector_whatever_the_chunks(self) -> None:
        for rule, name, body, expected in VECTORS:
            events = [
                ServerSentEvent(*(("message", event) if isinstance(event, str) else event))
                for event in expected
            ]
            for chunks in cuts(body):
                with self.subTest(rule=rule, name=name, chunks=chunks):
                    self.assertEqual(decode(chunks), events)

    def test_there_are_enough_vectors(self) -> None:
        self.assertGreaterEqual(len(VECTORS), 60)
        names = [(rule, name) for rule, name, _, _ in VECTORS]
        self.assertEqual(len(names), len(set(names)))


class TestPromptness(unittest.TestCase):
    def test_an_event_is_given_with_its_last_byte(self) -> None:
        for end in (b"\n\n", b"\r\r", b"\r\n\r"):
            decoder = SSEDecoder()
            self.assertEqual(decoder.feed(b"data: a" + end[:-1]), [])
            self.assertEqual(decoder.feed(end[-1:]), [ServerSentEvent("message", "a")])

    def test_the_lf_after_a_cr_given_at_once_is_swallowed(self) -> None:
        decoder = SSEDecoder()
        decoder.feed(b"data: a\r\n\r")
        self.assertEqual(decoder.feed(b"\ndata: b\n"), [])
        self.assertEqual(decoder.feed(b"\n"), [ServerSentEvent("message", "b")])

    def test_an_empty_chunk_does_not_part_cr_from_lf(self) -> None:
        self.assertEqual(
            decode([b"data: a\r", b"", b"\ndata: b\n\n"]), [ServerSentEvent("message", "a\nb")]
        )


class TestLimits(unittest.TestCase):
    def test_a_large_line_is_an_error(self) -> None:
        with self.assertRaisesRegex(ResponseTooLargeError, "at most 10 bytes"):
            decode([b"data: aaaaa"], limit=10)

    def test_a_large_line_that_ends_within_the_chunk_is_an_error(self) -> None:
        with self.assertRaises(ModelError):
            decode([b"data: aaaaa\n\n"], limit=10)

    def test_a_large_event_of_small_lines_is_an_error(self) -> None:
        with self.assertRaises(ResponseTooLargeError):
            decode([b"data: a\n"] * 6, limit=16)

    def test_a_large_comment_is_an_error(self) -> None:
        with self.assertRaises(ResponseTooLargeError):
            decode([b":" * 5] * 3, limit=10)

    def test_the_limit_holds_for_each_event_anew(self) -> None:
        self.assertEqual(len(decode([b"data: aaaa\n\n"] * 50, limit=10)), 50)

    def test_comments_do_not_add_up(self) -> None:
        self.assertEqual(len(decode([b": ping\n"] * 50 + [b"data: a\n\n"], limit=10)), 1)

    def test_ten_megabytes_are_within_the_default(self) -> None:
        body = b"data: " + b"x" * 10_000_000 + b"\n\n"
        for size in (4 * 1024, 64 * 1024):
            [event] = decode(body[at : at + size] for at in range(0, len(body), size))
            self.assertEqual(len(event.data), 10_000_000)

    def test_a_hundred_thousand_events_in_one_chunk(self) -> None:
        self.assertEqual(len(decode([b"data: {}\n\n" * 100_000])), 100_000)
