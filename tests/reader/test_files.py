"""The files that readers are given, and what a body may be turned into."""

import io
import unittest

import urllib3

from modeltest import as_chunks, as_lines, as_requests_response, as_urllib3_response
from modeltest.delivery.files import BodyFile, EndlessReading, PiecewiseFile

BODY = "data: Grüße\r\ndata: 🌍\r\rdata: end".encode()


def short(body: bytes = BODY, step: int = 3) -> PiecewiseFile:
    return PiecewiseFile(body, range(step, len(body), step))


class TestBodyFile(unittest.TestCase):
    def test_it_is_read_like_any_file(self) -> None:
        body = b"one\ntwo\nthree"
        self.assertEqual(BodyFile(body).read(), body)
        self.assertEqual(BodyFile(body).read(None), body)
        self.assertEqual(BodyFile(body).read(5), body[:5])
        self.assertEqual(BodyFile(body).read1(5), body[:5])
        self.assertEqual(BodyFile(body).read1(), body)
        self.assertEqual(BodyFile(body).readline(), b"one\n")
        self.assertEqual(list(BodyFile(body)), [b"one\n", b"two\n", b"three"])
        self.assertEqual(BodyFile(body).readlines(), [b"one\n", b"two\n", b"three"])
        with BodyFile(body) as file:
            buffer = bytearray(4)
            self.assertEqual(file.readinto(buffer), 4)
            self.assertEqual(buffer, b"one\n")
        self.assertTrue(file.closed)
        self.assertRaises(ValueError, file.read)

    def test_its_end_may_be_read_again(self) -> None:
        file = BodyFile(b"a")
        file.read()
        for _ in range(100):
            self.assertEqual(file.read(), b"")
            self.assertEqual(file.read1(10), b"")
            self.assertEqual(file.readline(), b"")
            self.assertEqual(file.readinto(bytearray(2)), 0)

    def test_its_end_cannot_be_read_for_ever(self) -> None:
        ways = {
            "read": lambda file: file.read(10),
            "read1": lambda file: file.read1(10),
            "readline": lambda file: file.readline(),
            "readinto": lambda file: file.readinto(bytearray(2)),
        }
        for name, read in ways.items():
            for file in (BodyFile(b"a"), short(b"a")):
                with self.subTest(name, file=type(file)), self.assertRaises(EndlessReading):
                    while True:
                        read(file)

    def test_a_read_of_nothing_is_not_at_the_end(self) -> None:
        file = BodyFile(b"a")
        for _ in range(2000):
            self.assertEqual(file.read(0), b"")
            self.assertEqual(file.readinto(bytearray()), 0)
        self.assertEqual(file.read(), b"a")


class TestPiecewiseFile(unittest.TestCase):
    def test_a_read_gives_a_few_bytes(self) -> None:
        self.assertEqual(short().read(100), BODY[:3])
        self.assertEqual(short().read(2), BODY[:2])
        self.assertEqual(short().read1(100), BODY[:3])
        self.assertEqual(short().read1(2), BODY[:2])
        self.assertEqual(short().read1(), BODY[:3])
        self.assertEqual(short().read1(None), BODY[:3])
        buffer = bytearray(100)
        self.assertEqual(short().readinto(buffer), 3)
        self.assertEqual(buffer[:4], BODY[:3] + b"\0")
        self.assertEqual(short().readinto(bytearray(2)), 2)
        self.assertEqual(short().readinto1(buffer), 3)

    def test_a_read_of_all_gives_all(self) -> None:
        self.assertEqual(short().read(), BODY)
        self.assertEqual(short().read(None), BODY)
        self.assertEqual(short().readall() if hasattr(short(), "readall") else BODY, BODY)

    def test_lines_come_whole(self) -> None:
        self.assertEqual(short(b"one line\ntwo").readline(), b"one line\n")
        self.assertEqual(list(short(b"one line\ntwo")), [b"one line\n", b"two"])

    def test_they_add_up(self) -> None:
        for step in (1, 2, 3, 7, 1000):
            with self.subTest(step):
                self.assertEqual(b"".join(as_chunks(short(step=step))), BODY)
                self.assertEqual(io.BufferedReader(short(step=step)).read(), BODY)


class TestForms(unittest.TestCase):
    def test_chunks(self) -> None:
        self.assertEqual(list(as_chunks(BodyFile(b"abcde"), 2)), [b"ab", b"cd", b"e"])
        self.assertEqual(list(as_chunks(BodyFile(b"abcde"))), [b"abcde"])
        self.assertEqual(list(as_chunks(BodyFile(b""), 2)), [])
        with self.assertRaisesRegex(ValueError, r"chunks of 1 byte or more, got size=0"):
            as_chunks(BodyFile(b"a"), 0)

    def test_lines(self) -> None:
        cases = {
            BODY: ["data: Grüße", "data: 🌍", "", "data: end"],
            b"": [],
            b"\n": [""],
            b"a\n": ["a"],
            b"a\r\n\r\nb\n\rc": ["a", "", "b", "", "c"],
            "a\u2028b\x85\x0b\x0c\x1c".encode(): ["a\u2028b\x85\x0b\x0c\x1c"],
        }
        for body, lines in cases.items():
            with self.subTest(body):
                self.assertEqual([line.decode() for line in as_lines(BodyFile(body))], lines)
                self.assertEqual([line.decode() for line in as_lines(short(body))], lines)

    def test_a_urllib3_response(self) -> None:
        response = as_urllib3_response(BodyFile(BODY))
        self.assertIsInstance(response, urllib3.HTTPResponse)
        self.assertEqual((response.status, response.reason), (200, "OK"))
        self.assertEqual(response.headers["content-type"], "text/event-stream")
        self.assertEqual(b"".join(response.stream(4)), BODY)
        self.assertEqual(as_urllib3_response(BodyFile(BODY)).read(), BODY)
        self.assertEqual(as_urllib3_response(short()).read1(100), BODY[:3])
        self.assertEqual(as_urllib3_response(BodyFile(b"a\nb")).readline(), b"a\n")
        other = as_urllib3_response(BodyFile(b""), content_type="application/json")
        self.assertEqual(other.headers["Content-Type"], "application/json")

    def test_a_requests_response(self) -> None:
        response = as_requests_response(BodyFile(BODY))
        response.raise_for_status()
        self.assertTrue(response.ok)
        self.assertEqual(response.headers["content-type"], "text/event-stream")
        self.assertEqual(response.encoding, "ISO-8859-1")
        self.assertEqual(b"".join(response.iter_content(4)), BODY)
        with as_requests_response(BodyFile(BODY)) as response:
            self.assertEqual(response.content, BODY)
        lines = as_requests_response(BodyFile(b"a\n\nb")).iter_lines()
        self.assertEqual(list(lines), [b"a", b"", b"b"])
        answer = as_requests_response(BodyFile(b"{}"), content_type="application/json")
        self.assertEqual((answer.json(), answer.encoding), ({}, "utf-8"))

    def test_a_response_is_closed_without_being_read(self) -> None:
        with as_requests_response(BodyFile(BODY)) as response:
            file = response.raw._fp
        self.assertTrue(file.closed)


if __name__ == "__main__":
    unittest.main()
