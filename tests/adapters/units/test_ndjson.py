from __future__ import annotations

import unittest
from collections.abc import Iterable

from modeltest import ResponseTooLargeError
from tests.adapters.ndjson import LineDecoder

VECTORS = (
    ("LF", b'{"a": 1}\n{"b": 2}\n', ['{"a": 1}', '{"b": 2}']),
    ("CR LF", b"{}\r\n[]\r\n", ["{}", "[]"]),
    ("empty lines", b"\n\n{}\n \n\r\n{}\n\n", ["{}", "{}"]),
    ("white space around a line", b" \t{} \n", ["{}"]),
    ("what other readers take for line ends", "a\u0085\u2028\u2029\x0b\x0cb\n".encode(), ["a\u0085\u2028\u2029\x0b\x0cb"]),
    ("characters of several bytes", "é€🎈\n".encode(), ["é€🎈"]),
    ("a byte that is no UTF-8", b'"\xff"\n', ['"\ufffd"']),
    ("no LF at the end", b"{}\n12", ["{}"]),
    ("nothing", b"", []),
)  # fmt: skip


def decode(chunks: Iterable[bytes], **options: int) -> list[str]:
    decoder = LineDecoder(**options)
    return [event.data for chunk in chunks for event in decoder.feed(chunk)]


class TestLines(unittest.TestCase):
    def test_every_vector_whatever_the_chunks(self) -> None:
        for name, body, lines in VECTORS:
            for at in range(len(body) + 1):
                with self.subTest(name=name, at=at):
                    self.assertEqual(decode([body[:at], b"", body[at:]]), lines)
            with self.subTest(name=name):
                self.assertEqual(decode(body[at : at + 1] for at in range(len(body))), lines)

    def test_a_line_is_given_with_its_last_byte(self) -> None:
        decoder = LineDecoder()
        self.assertEqual(decoder.feed(b"{}"), [])
        self.assertEqual(len(decoder.feed(b"\n{")), 1)


class TestLimit(unittest.TestCase):
    def test_a_large_line_is_an_error(self) -> None:
        for chunks in ([b"x" * 11], [b"x" * 6] * 2, [b"x" * 11 + b"\n"]):
            with self.assertRaisesRegex(ResponseTooLargeError, "at most 10 bytes"):
                decode(chunks, limit=10)

    def test_it_holds_for_each_line_anew(self) -> None:
        self.assertEqual(len(decode([b"x" * 9 + b"\n"] * 50, limit=10)), 50)

    def test_ten_megabytes_are_within_the_default(self) -> None:
        body = b"x" * 10_000_000 + b"\n"
        [line] = decode(body[at : at + 65536] for at in range(0, len(body), 65536))
        self.assertEqual(len(line), 10_000_000)
