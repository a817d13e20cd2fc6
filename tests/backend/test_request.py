"""What the backend reads, and what it takes for no request."""

import io
import unittest

from modeltest.backend.request import MalformedRequest, read_request


def read(data, sent=None):
    return read_request(io.BufferedReader(io.BytesIO(data)), [].append if sent is None else sent)


class TestWellFormed(unittest.TestCase):
    def test_a_request_is_read_as_it_came(self):
        request = read(
            b"PATCH //v1/chat?a=b%20c HTTP/1.1\r\nX-Name: Value\r\nContent-Length: 3\r\n\r\nabcd"
        )
        self.assertEqual(
            (request.method, request.path, request.version, request.body, request.keep_alive),
            ("PATCH", "//v1/chat?a=b%20c", "HTTP/1.1", b"abc", True),
        )
        self.assertEqual(request.headers["x-name"], "Value")

    def test_without_a_length_there_is_no_body(self):
        self.assertEqual(read(b"GET / HTTP/1.1\r\n\r\nrest").body, b"")

    def test_an_end_before_anything_is_no_request(self):
        self.assertIsNone(read(b""))
        self.assertIsNone(read(b"\r\n\n"))

    def test_blank_lines_before_a_request_are_passed_over(self):
        self.assertEqual(read(b"\r\n\nGET /a HTTP/1.1\r\n\r\n").path, "/a")

    def test_bare_line_feeds_end_lines_too(self):
        request = read(b"POST / HTTP/1.1\nContent-Length: 1\n\nx")
        self.assertEqual(request.body, b"x")

    def test_several_requests_follow_each_other(self):
        file = io.BufferedReader(
            io.BytesIO(b"GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nab")
        )
        first, second = read_request(file, print), read_request(file, print)
        self.assertEqual((first.path, second.path, second.body), ("/1", "/2", b"ab"))
        self.assertIsNone(read_request(file, print))

    def test_chunked_bodies_are_joined(self):
        head = b"POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
        plain = head + b"3\r\nabc\r\nA;name=value\r\n0123456789\r\n0\r\n\r\n"
        self.assertEqual(read(plain).body, b"abc0123456789")
        with_trailer = head + b"1\r\nx\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"
        self.assertEqual(read(with_trailer).body, b"x")

    def test_a_large_body_is_read_whole(self):
        body = bytes(range(256)) * 40_000
        request = read(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        self.assertEqual(request.body, body)

    def test_a_claimed_length_sets_no_memory_aside(self):
        with self.assertRaisesRegex(MalformedRequest, "after 1 of 999999999999999 bytes"):
            read(b"POST / HTTP/1.1\r\nContent-Length: 999999999999999\r\n\r\nx")

    def test_keep_alive(self):
        for head, expected in {
            b"GET / HTTP/1.1\r\n\r\n": True,
            b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n": False,
            b"GET / HTTP/1.0\r\n\r\n": False,
            b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n": True,
        }.items():
            with self.subTest(head):
                self.assertIs(read(head).keep_alive, expected)

    def test_a_peer_that_waits_for_a_go_ahead_gets_it(self):
        sent = []
        request = read(
            b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx", sent.append
        )
        self.assertEqual(sent, [b"HTTP/1.1 100 Continue\r\n\r\n"])
        self.assertEqual(request.body, b"x")

    def test_nobody_else_gets_one(self):
        sent = []
        read(b"POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", sent.append)
        read(b"GET / HTTP/1.1\r\n\r\n", sent.append)
        self.assertEqual(sent, [])


class TestMalformed(unittest.TestCase):
    def test_is_named(self):
        head = b"POST / HTTP/1.1\r\n"
        chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
        for data, reason in {
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03": "TLS handshake",
            b"hello\r\n\r\n": r"Bad request syntax \('hello'\)",
            b"GET /\r\n\r\n": "no HTTP version in 'GET /'",
            b"POST /\r\n\r\n": "HTTP/0.9 request type",
            b"GET / HTTP/one\r\n\r\n": r"version \('HTTP/one'\)",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": r"HTTP version \(2.0\)",
            b" \r\n\r\n": "no HTTP version in ' '",
            b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 300 + b"\r\n": "Too many headers",
            b"G" * 70_000 + b"\r\n": "a line of more than 65536 bytes: b'GGG",
            head + b"Content-Length: -1\r\n\r\n": "'-1' is no number",
            head + b"Content-Length: many\r\n\r\n": "'many' is no number",
            head + "Content-Length: ٣\r\n\r\n".encode(): "is no number",
            chunked + b"x\r\n": "size in hexadecimal, got b'x'",
            chunked + b"-1\r\n": "size in hexadecimal, got b'-1'",
            chunked + b"\r\n": "size in hexadecimal, got b''",
            chunked + b"1\r\nab\r\n": "expected the end of a chunk, got b'b'",
        }.items():
            with self.subTest(data[:60]), self.assertRaisesRegex(MalformedRequest, reason):
                read(data)

    def test_a_request_that_breaks_off_is_named_wherever_it_does(self):
        whole = (
            b"POST / HTTP/1.1\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n0\r\nX: y\r\n\r\n"
        )
        self.assertEqual(read(whole).body, b"abc")
        for size in range(1, len(whole)):
            with self.subTest(size), self.assertRaisesRegex(MalformedRequest, "broke off"):
                read(whole[:size])

    def test_what_is_quoted_is_short(self):
        with self.assertRaises(MalformedRequest) as raised:
            read(b"x" * 60_000 + b"\r\n\r\n")
        self.assertLess(len(str(raised.exception)), 400)
