"""What a case says, and leaves unsaid, of adapters that are not what it expects."""

import socket
import unittest
import uuid
from dataclasses import replace
from urllib.parse import urlsplit

from modeltest.checks import BY_NAME
from modeltest.delivery import run
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Status
from modeltest.interface import Finish, ModelError, TextDelta, ToolCallDelta
from modeltest.wire import BedrockConverse, Gemini, OllamaChat
from tests.adapters.gemini import GeminiModel
from tests.adapters.ollama_chat import OllamaChatModel

from .targets import target

BOUNDED = BY_NAME["delivery/bounded"]


class RefusesComments(AcmeModel):
    """Reads no more once a comment has come."""

    def stream(self, request):
        with self._session.post(self._url, json={}, stream=True) as response:
            if response.raw.read1(2).startswith(b":"):
                raise ModelError("a comment")
            yield TextDelta("a word")


class MakesItUp(AcmeModel):
    """Gives an event without asking anybody."""

    def stream(self, request):
        yield TextDelta("made up")


class SpeaksNoHTTP(AcmeModel):
    """Sends bytes that are no request."""

    def stream(self, request):
        address = urlsplit(self._url)
        with socket.create_connection((address.hostname, address.port), timeout=2) as connection:
            connection.sendall(b"no request at all\r\n\r\n")
            connection.recv(1000)
        raise ValueError("that was no answer")
        yield


class FinishesAnyway(OllamaChatModel):
    """Takes every answer for a whole one."""

    def stream(self, request):
        try:
            yield from super().stream(request)
        except ModelError:
            yield Finish("stop")


class MakesUpIds(GeminiModel):
    """Gives a call without an id one that nobody else has."""

    def stream(self, request):
        for event in super().stream(request):
            nameless = isinstance(event, ToolCallDelta) and event.id.startswith("nameless:")
            yield replace(event, id=str(uuid.uuid4())) if nameless else event


def wired(wire, model):
    return target(
        new_model=lambda base_url, client: model(base_url, session=client, api_key="key"),
        event=wire.event,
        wire=wire,
    )


def made(model):
    return target(new_model=lambda base_url, client: model(base_url, client, "key"))


class TestBounded(unittest.TestCase):
    def test_the_careful_adapter_is_judged(self):
        self.assertEqual(run(BOUNDED, target()).status, Status.PASSED)

    def test_a_reader_without_comments_is_not_judged(self):
        outcome = run(BOUNDED, made(RefusesComments))
        self.assertEqual(outcome.status, Status.SKIPPED)
        self.assertIn("follows a comment (it raised ModelError: a comment)", outcome.text)

    def test_an_answer_without_a_request_is_not_judged(self):
        self.assertEqual(run(BOUNDED, made(MakesItUp)).status, Status.SKIPPED)


class TestMalformedRequests(unittest.TestCase):
    def test_they_are_evidence(self):
        outcome = run(BY_NAME["truncation/clean"], made(SpeaksNoHTTP))
        self.assertEqual(outcome.status, Status.FAILED)
        self.assertIn("server   received what is no HTTP/1 request: ", outcome.text)


class TestOtherFramings(unittest.TestCase):
    def test_the_events_alone_have_the_wires_media_type(self):
        lines = wired(OllamaChat(), OllamaChatModel)
        for name in (
            "delivery/prompt",
            "delivery/bounded",
            "truncation/empty",
            "truncation/mid-event",
        ):
            with self.subTest(name):
                outcome = run(BY_NAME[name], lines)
                self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))

    def test_empty_lines_are_no_answer(self):
        outcome = run(BY_NAME["truncation/empty"], wired(OllamaChat(), FinishesAnyway))
        self.assertIn("empty lines only: a 200 that holds only empty lines was taken", outcome.text)

    def test_what_the_framing_has_not_is_not_judged(self):
        frames = replace(made(MakesItUp), wire=BedrockConverse(), event=BedrockConverse().event)
        for name in ("delivery/bounded", "truncation/empty"):
            with self.subTest(name):
                self.assertIn("every byte belongs to an event", run(BY_NAME[name], frames).text)

    def test_what_cannot_be_respelled_is_not_judged(self):
        outcome = run(BY_NAME["framing/comments"], wired(OllamaChat(), OllamaChatModel))
        self.assertEqual(outcome.status, Status.SKIPPED)
        self.assertIn("leaves no choice as to comments", outcome.text)


class TestIds(unittest.TestCase):
    def test_an_id_that_was_not_sent_may_be_any(self):
        outcome = run(BY_NAME["framing/comments"], wired(Gemini(), MakesUpIds))
        self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))
