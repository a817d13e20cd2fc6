"""framing/any-bytes: what its failures say, and what it leaves behind."""

import json
import os
import sys
import tempfile
import time
import unittest
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from modeltest import SSEReaderTestCase, StreamProtocolError, TextDelta
from modeltest.checks import BY_NAME
from modeltest.delivery import Target, run
from modeltest.harness import Status
from modeltest.shrinking import smallest
from modeltest.wire import OllamaChat, OpenAIChat
from tests.mutants import parrot
from tests.testcase.running import run as run_case
from tests.testcase.running import text_of

ANY_BYTES = BY_NAME["framing/any-bytes"]


class Trusting(parrot.Parrot):
    """Looks up what it has not looked for."""

    def decode(self, chunks: Iterable[bytes]) -> Iterator[Any]:
        for line in b"".join(chunks).splitlines():
            if line.startswith(b"data:"):
                yield self.parsed(line[5:].strip())

    def parsed(self, data: bytes) -> Any:
        try:
            value = json.loads(data)
        except ValueError as error:
            raise StreamProtocolError("no JSON") from error
        word = value["word"]
        return {"word": word.strip() + " "}


class Hanging(Trusting):
    """Waits for the rest of a line that is none."""

    def decode(self, chunks: Iterable[bytes]) -> Iterator[Any]:
        body = b"".join(chunks)
        while b"\xff" in body:
            time.sleep(0.01)
        yield from ()


def outcome_of(model: Any, **given: Any) -> Any:
    target = Target(**{"new_model": model, "event": parrot.event, "deadline": 1.0, **given})
    return run(ANY_BYTES, target)


class TestAnyBytes(unittest.TestCase):
    def test_all_kinds_of_fault_come_in_one_run(self) -> None:
        text = outcome_of(Trusting).text
        self.assertRegex(text, r"\Aframing/any-bytes: \d kinds of fault\.\n- ")
        for error in ("KeyError", "TypeError", "AttributeError"):
            self.assertRegex(text, rf"{error} at \S*test_any_bytes\.py:\d+")

    def test_each_has_its_line_and_its_bytes(self) -> None:
        first = outcome_of(Trusting).text.split("\n- ")[1]
        self.assertRegex(
            first, r"(?s)\n  raised   .*test_any_bytes\.py:\d+ in parsed: word = value\["
        )
        self.assertRegex(first, r"\n  bytes    b'data:.{0,30}'")

    def test_a_server_that_was_not_asked_is_not_quoted(self) -> None:
        for model in (Trusting, Hanging):
            self.assertNotIn("received no request", outcome_of(model).text)

    def test_a_hang_is_one(self) -> None:
        outcome = outcome_of(Hanging)
        self.assertIs(outcome.status, Status.FAILED)
        self.assertRegex(outcome.text, r"did not return within 1\.0 s")
        self.assertRegex(outcome.text, r"(?s)\n  stack    .*test_any_bytes\.py:\d+ in decode")
        self.assertRegex(outcome.text, r"\n  bytes    b'.*\\xff")

    def test_what_is_no_event_does_not_hide_the_rest(self) -> None:
        class Wordy(Trusting):
            def parsed(self, data: bytes) -> Any:
                value = super().parsed(data)
                return {"word": 7} if b"word 1" in data else value

        text = outcome_of(Wordy).text
        self.assertRegex(text, r"[2-9] kinds of fault")

    def test_nothing_is_left_and_nothing_warned_of(self) -> None:
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
            warnings.simplefilter("error")
            os.chdir(directory)
            try:
                for hypothesis in (True, False):
                    gone = {} if hypothesis else {"hypothesis": None}
                    with mock.patch.dict(sys.modules, gone):
                        self.assertIs(outcome_of(Trusting).status, Status.FAILED)
                self.assertEqual(os.listdir(), [])
            finally:
                os.chdir(before)

    def test_other_framings_are_told_in_their_own_words(self) -> None:
        check = BY_NAME["framing/blank-lines"]
        for framing in ("newline-delimited JSON", "JSON array", "binary event stream"):
            self.assertNotRegex(check.fixes[framing], "colon|comment|blank line|CR LF")
        self.assertIn("strip a CR", check.fixes[OllamaChat().framing])
        self.assertNotIn(OpenAIChat().framing, check.fixes)


class TestReaders(unittest.TestCase):
    """In memory."""

    def test_a_hang_shows_the_body(self) -> None:
        class TestReader(SSEReaderTestCase):
            wire = OpenAIChat()
            deadline = 0.5

            def stream_sse(self, body: Any) -> Iterator[Any]:
                data = body.read()
                while b"\xff" in data:
                    time.sleep(0.01)
                yield TextDelta("x")
                raise StreamProtocolError("cut")

        text = text_of(run_case(TestReader, ANY_BYTES.method))
        self.assertRegex(text, r"\n  bytes    b'.*\\xff")


class TestSmallest(unittest.TestCase):
    def test_lines_then_bytes(self) -> None:
        body = b"one\ntwo\nthree: x=7\nfour\n"
        self.assertEqual(smallest(body, lambda data: b"x=" in data), b"x=")
        self.assertEqual(smallest(b"", lambda data: True), b"")

    def test_so_many_tries(self) -> None:
        tried: list[bytes] = []

        def fails(data: bytes) -> bool:
            tried.append(data)
            return False

        self.assertEqual(smallest(b"x\n" * 5_000, fails, tries=20), b"x\n" * 5_000)
        self.assertEqual(len(tried), 20)


if __name__ == "__main__":
    unittest.main()
