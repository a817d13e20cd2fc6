"""How a turn fails: what an `except` clause catches, and what the error says."""

import unittest

from modeltest import (
    APIError,
    ConfigError,
    IncompleteResponseError,
    ModelError,
    NegativeUsageError,
    OutputFilteredError,
    OutputTruncatedError,
    ProtocolError,
    QuotaExhaustedError,
    RateLimitedError,
    ResponseTooLargeError,
    StreamProtocolError,
    TruncatedToolArgumentsError,
)

BASES = {ConfigError, ModelError, ProtocolError, APIError}
CAUGHT_BY = {
    ConfigError: {ConfigError},
    ModelError: {ModelError},
    IncompleteResponseError: {ModelError},
    OutputTruncatedError: {ModelError},
    OutputFilteredError: {ModelError},
    ResponseTooLargeError: {ModelError},
    APIError: {APIError, ModelError},
    RateLimitedError: {APIError, ModelError},
    QuotaExhaustedError: {APIError, ModelError},
    ProtocolError: {ProtocolError},
    TruncatedToolArgumentsError: {ProtocolError},
    NegativeUsageError: {ProtocolError},
    StreamProtocolError: {ProtocolError, ModelError},
}


class TestHierarchy(unittest.TestCase):
    def test_each_error_is_caught_by_its_bases_only(self) -> None:
        for error, expected in CAUGHT_BY.items():
            with self.subTest(error.__name__):
                self.assertEqual({base for base in BASES if issubclass(error, base)}, expected)

    def test_no_error_is_a_built_in_one(self) -> None:
        # A retrying layer that catches OSError or ValueError must not take these for its own.
        for error in CAUGHT_BY:
            with self.subTest(error.__name__):
                self.assertFalse(issubclass(error, (OSError, ValueError, RuntimeError)))


class TestAPIError(unittest.TestCase):
    def test_it_says_status_type_and_message(self) -> None:
        error = APIError(529, "Overloaded", type="overloaded_error")
        self.assertEqual(str(error), "HTTP 529 (overloaded_error): Overloaded")

    def test_it_says_that_it_came_in_the_stream(self) -> None:
        self.assertEqual(str(APIError(None, "Overloaded")), "in the stream: Overloaded")

    def test_it_shows_the_body_where_there_is_no_message(self) -> None:
        self.assertEqual(str(APIError(502, body="<html>")), "HTTP 502: <html>")

    def test_it_prefers_the_message_to_the_body(self) -> None:
        self.assertEqual(str(APIError(500, "boom", body="{...}")), "HTTP 500: boom")

    def test_it_admits_that_nothing_was_said(self) -> None:
        self.assertEqual(str(APIError()), "in the stream: no message")

    def test_it_keeps_what_it_was_given(self) -> None:
        error = APIError(400, "too long", type="invalid", code="context_length", body="{}")
        self.assertEqual(
            (error.status, error.message, error.type, error.code, error.body),
            (400, "too long", "invalid", "context_length", "{}"),
        )

    def test_nothing_is_known_unless_given(self) -> None:
        error = APIError()
        self.assertEqual(
            (error.status, error.message, error.type, error.code, error.body),
            (None, "", "", "", ""),
        )


class TestRateLimitedError(unittest.TestCase):
    def test_it_keeps_the_seconds_to_wait(self) -> None:
        error = RateLimitedError(429, "slow down", retry_after=1.5, type="rate", code="c", body="b")
        self.assertEqual(error.retry_after, 1.5)
        self.assertEqual(
            (error.status, error.message, error.type, error.code, error.body),
            (429, "slow down", "rate", "c", "b"),
        )
        self.assertEqual(str(error), "HTTP 429 (rate): slow down")

    def test_nothing_is_known_unless_given(self) -> None:
        error = RateLimitedError()
        self.assertIsNone(error.retry_after)
        self.assertEqual(vars(error), {**vars(APIError()), "retry_after": None})
        self.assertEqual(str(error), str(APIError()))


if __name__ == "__main__":
    unittest.main()
