from __future__ import annotations

import json
import unittest
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import urllib3

from modeltest import APIError, QuotaExhaustedError, RateLimitedError
from tests.adapters.http_body import HTTPBody
from tests.adapters.http_errors import api_error, expect_event_stream, parse_retry_after
from tests.adapters.units.loopback import Exchange, Script, provider

KEY = "sk-test-4f9a"


def fail(
    body: bytes | str, *headers: str, status: int = 500, media: str = "application/json"
) -> Script:
    data = body.encode() if isinstance(body, str) else body

    def script(exchange: Exchange) -> None:
        exchange.head(f"Content-Length: {len(data)}", *headers, status=status, media=media)
        exchange.raw(data)
        exchange.keep_alive = True

    return script


class TestAnswers(unittest.TestCase):
    def error(self, script: Script) -> APIError:
        with provider(script) as server, urllib3.PoolManager() as pool:
            raw = pool.request(
                "POST", server.url, preload_content=False, redirect=False, retries=False
            )
            with self.assertRaises(APIError) as caught:
                expect_event_stream(HTTPBody(raw), secret=KEY)
            self.assertIsNone(raw.connection)
        error = caught.exception
        self.assertNotIn(KEY, f"{error} {error!r} {vars(error)}")
        self.assertLess(len(str(error)), 700)
        return error

    def test_the_providers_words(self) -> None:
        for body, kind, code in (
            ({"error": {"message": "Words.", "type": "t", "code": "c", "param": None}}, "t", "c"),
            ({"type": "error", "error": {"type": "t", "message": "Words."}}, "t", ""),
            (
                {"error": {"message": "Words.", "code": 404, "status": "NOT_FOUND"}},
                "NOT_FOUND",
                "404",
            ),
            ([{"error": {"message": "Words.", "code": 400}}], "400", "400"),
            ({"error": "Words."}, "", ""),
            ({"message": "Words.", "type": "t"}, "t", ""),
            ({"detail": "Words."}, "", ""),
            ({"detail": [{"msg": "Words."}]}, "", ""),
            ({"error": {"errors": ["Words."]}}, "", ""),
            (["Words."], "", ""),
            ("Words.", "", ""),
        ):
            with self.subTest(body=body):
                error = self.error(fail(json.dumps(body), status=400))
                self.assertIn("HTTP 400", str(error))
                self.assertIn("Words.", str(error))
                self.assertEqual((error.status, error.type, error.code), (400, kind, code))
                self.assertIs(type(error), APIError)

    def test_every_status(self) -> None:
        for status in (
            201,
            204,
            301,
            302,
            307,
            400,
            401,
            403,
            404,
            408,
            413,
            422,
            500,
            502,
            503,
            529,
            999,
        ):
            with self.subTest(status=status):
                error = self.error(
                    fail("" if status == 204 else "<p>Words</p>", status=status, media="text/html")
                )
                self.assertEqual(error.status, status)
                self.assertIn(str(status), str(error))

    def test_an_error_that_calls_itself_a_stream(self) -> None:
        error = self.error(fail("data: Words\n\n", status=429, media="text/event-stream"))
        self.assertIn("Words", str(error))
        self.assertIsInstance(error, RateLimitedError)

    def test_html_is_shortened(self) -> None:
        page = (
            "<html><head><title>502 Bad Gateway</title></head><body>\n<h1>Nginx &amp; co</h1>"
            + "<p>" * 5000
        )
        error = self.error(fail(page, status=502, media="text/html"))
        self.assertIn("502 Bad Gateway Nginx & co", str(error))
        self.assertNotIn("<", error.message)

    def test_a_page_of_nothing_but_brackets(self) -> None:
        self.error(fail("<" * 100_000, status=502, media="text/html"))

    def test_an_empty_body(self) -> None:
        self.assertIn("Internal Server Error", str(self.error(fail("", status=500))))

    def test_bytes_that_are_no_text(self) -> None:
        self.error(fail(bytes(range(256)), status=500, media="application/octet-stream"))

    def test_a_large_body_is_not_carried(self) -> None:
        for body in (
            b"x" * 10_000_000,
            json.dumps({"error": {"message": "x" * 10_000_000}}).encode(),
        ):
            error = self.error(fail(body))
            self.assertLess(len(error.body), 1000)

    def test_a_long_message_is_shortened(self) -> None:
        error = self.error(
            fail(json.dumps({"error": {"message": "x" * 5000, "type": "y" * 50_000}}))
        )
        self.assertLess(len(error.message), 600)
        self.assertLess(len(error.type), 100)

    def test_a_body_that_does_not_end_is_not_waited_for(self) -> None:
        def script(exchange: Exchange) -> None:
            exchange.chunked(media="application/json")
            exchange.chunk('{"error": {"message": "Wor')
            exchange.wait_until_left()
            left.append(exchange.left.is_set())

        left: list[bool] = []
        self.error(script)
        self.assertEqual(left, [True])

    def test_a_body_that_is_cut(self) -> None:
        def script(exchange: Exchange) -> None:
            exchange.head("Content-Length: 100", status=503, media="text/plain")
            exchange.raw(b"Words")

        self.assertIn("Words", str(self.error(script)))

    def test_the_key_is_not_repeated(self) -> None:
        padding = "x" * 480
        for body in (
            json.dumps({"error": {"message": f"Incorrect key {KEY}.", "type": KEY, "code": KEY}}),
            json.dumps({"error": {"message": padding + KEY}}),
            f"<p>{padding[:450]}{KEY}</p>",
            KEY * 40_000,
        ):
            error = self.error(fail(body, status=401))
            self.assertIn("[the API", str(error))
            self.assertNotIn(KEY[:6], str(error))

    def test_rate_limit(self) -> None:
        body = json.dumps({"error": {"message": "Slow down."}})
        error = self.error(fail(body, "Retry-After: 7", status=429))
        assert isinstance(error, RateLimitedError)
        self.assertEqual(error.retry_after, 7.0)
        error = self.error(fail(body, status=429))
        assert isinstance(error, RateLimitedError)
        self.assertIsNone(error.retry_after)
        self.assertIsInstance(
            self.error(fail(body, "Retry-After: 7", status=503)), RateLimitedError
        )

    def test_quota(self) -> None:
        for said in (
            {"code": "insufficient_quota"},
            {"type": "insufficient_quota"},
            {"type": "billing_error"},
            {"code": "billing_not_active"},
        ):
            body = json.dumps({"error": {"message": "Pay.", **said}})
            error = self.error(fail(body, "Retry-After: 7", status=429))
            self.assertIsInstance(error, QuotaExhaustedError)
        error = self.error(fail(json.dumps({"error": {"message": "Pay."}}), status=402))
        self.assertIsInstance(error, QuotaExhaustedError)

    def test_a_stream_it_is_not(self) -> None:
        for body, media, words in (
            ('{"error": {"message": "Words."}}', "application/json", "Words."),
            ("<html><h1>Log in</h1></html>", "text/html", "Log in"),
            (
                '{"choices": [{"message": {"content": "hi"}}]}',
                "application/json",
                "application/json",
            ),
            ("data: {}\n\n", "text/plain", "text/event-stream"),
            ("data: {}\n\n", "text/event-streams", "text/event-stream"),
        ):
            with self.subTest(body=body):
                error = self.error(fail(body, status=200, media=media))
                self.assertIn(words, str(error))
                self.assertEqual(error.status, 200)

    def test_a_stream_it_is(self) -> None:
        for media in (
            "text/event-stream",
            "text/event-stream;charset=utf-8",
            "Text/Event-Stream; charset=iso-8859-1",
            "text/event-stream;",
        ):
            with (
                provider(fail("", status=200, media=media)) as server,
                urllib3.PoolManager() as pool,
            ):
                raw = pool.request("POST", server.url, preload_content=False)
                with expect_event_stream(HTTPBody(raw), secret=KEY) as body:
                    self.assertEqual(list(body.chunks()), [])


class TestErrorObjects(unittest.TestCase):
    def test_what_is_no_error_object(self) -> None:
        values: list[Any] = [
            None,
            1,
            "x",
            [],
            [1],
            {},
            {"error": None},
            {"error": 5},
            {"error": []},
        ]
        for payload in values:
            self.assertIn("no message", str(api_error(payload, secret=KEY)))


class TestRetryAfter(unittest.TestCase):
    def test_seconds(self) -> None:
        for value, seconds in (("0", 0.0), ("7", 7.0), (" 3600 ", 3600.0), ("1.5", 1.5)):
            self.assertEqual(parse_retry_after(value), seconds)

    def test_a_date(self) -> None:
        soon = datetime.now(UTC) + timedelta(seconds=90)
        seconds = parse_retry_after(format_datetime(soon, usegmt=True))
        assert seconds is not None
        # The header has no fractions of a second: cut off, they must not shorten the wait.
        self.assertGreaterEqual(seconds, (soon - datetime.now(UTC)).total_seconds())
        self.assertLessEqual(seconds, 91)
        self.assertEqual(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), 0.0)
        self.assertEqual(parse_retry_after("Wed, 21 Oct 2015 07:28:00 -0000"), 0.0)

    def test_nonsense(self) -> None:
        for value in (
            "",
            "soon",
            "-1",
            "+1",
            "inf",
            "nan",
            "1e3",
            "1_0",
            "٣",
            "9" * 400,
            "1;2",
            "Wed, 99 Oct 2015 07:28:00 GMT",
            "Wed, 21 Oct 999999999999 07:28:00 GMT",
        ):
            with self.subTest(value=value):
                self.assertIsNone(parse_retry_after(value))
