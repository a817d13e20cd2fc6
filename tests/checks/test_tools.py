"""What tools/* make of adapters and formats that are not as the mutants' are."""

import gzip
import json
import socket
import unittest
import zlib
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from modeltest.checks import BY_NAME
from modeltest.corpus.tool_cases import bad_choices, bad_names, good_names, rule_of
from modeltest.delivery import Target, run
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Outcome, Status
from modeltest.interface import ConfigError, ModelError, TextDelta
from modeltest.transports import OwnTransport
from modeltest.wire import CohereChat, Gemini, OllamaChat, OpenAIChat
from tests.adapters.home_made_wire import AcmeLines
from tests.adapters.ollama_chat import OllamaChatModel
from tests.adapters.openai_chat import OpenAIChatModel
from tests.mutants import elsewhere, parrot

from .targets import target

CONFIG, ACCEPTED, TRAPS, HISTORY = (
    BY_NAME[f"tools/{name}"] for name in ("config", "accepted", "traps", "history")
)
REFUSED_NAMES = BY_NAME["test_refused_tool_names"]


def made(model: Any, **changes: Any) -> Target:
    return target(new_model=lambda url, client: model(url, client, "key"), **changes)


class ConnectsElsewhere(AcmeModel):
    """Speaks to another machine by a library that nobody watches."""

    def stream(self, request):
        try:
            socket.create_connection(("192.0.2.1", 443), timeout=2)
        except OSError as error:
            raise ModelError(str(error)) from error
        yield TextDelta("never")


class SpeaksNoHTTP(AcmeModel):
    def stream(self, request):
        address = urlsplit(self._url)
        with socket.create_connection((address.hostname, address.port), timeout=2) as connection:
            connection.sendall(b"no request at all\r\n\r\n")
            connection.recv(1000)
        raise ConfigError(f"{request.tools}")
        yield


class SpellsAForm(AcmeModel):
    """Sends no JSON, and tells nothing of the choice."""

    def stream(self, request):
        names = "&".join(f"tool={quote(tool.name)}" for tool in request.tools)
        with self._session.post(self._url, data=names.encode(), stream=True) as response:
            yield TextDelta(response.text)


class SaysChoice(AcmeModel):
    """Has a choice of its provider's, always."""

    spelled: dict[str, Any]

    def stream(self, request):
        tools = [[tool.name, tool.description, tool.parameters] for tool in request.tools]
        payload = {"tools": tools, **self.spelled}
        with self._session.post(self._url, json=[payload], stream=True) as response:
            yield TextDelta(response.text)


class TellsThePrompt(AcmeModel):
    """Its provider has no tools: they are described to the model."""

    def stream(self, request):
        tools = "".join(f"<{t.name}>{t.description}, place</{t.name}>" for t in request.tools)
        payload = {"prompt": f"You have these tools: {tools}"}
        with self._session.post(self._url, json=payload, stream=True) as response:
            yield TextDelta(response.text)


class Compresses(AcmeModel):
    """Sends its request compressed."""

    tools: Any = None
    encoding, compress = "gzip", staticmethod(gzip.compress)

    def stream(self, request):
        tools = request.tools if self.tools is None else self.tools
        told = [[tool.name, tool.description, tool.parameters] for tool in tools]
        data = self.compress(json.dumps(told).encode())
        headers = {"Content-Encoding": self.encoding}
        with self._session.post(self._url, data=data, headers=headers, stream=True) as response:
            yield TextDelta(response.text)


def deflate(data):
    """As some do it, without the head that the standard demands."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


class Escapes(AcmeModel):
    """Quotes names as ASCII, and shortens them."""

    def stream(self, request):
        for tool in request.tools:
            raise ConfigError(f"tool name {tool.name[:25]!a}")
        yield from super().stream(request)


class CarriesTheName(AcmeModel):
    """Has the name on the error, not in its text."""

    def stream(self, request):
        for tool in request.tools:
            error = ConfigError("bad tool name")
            error.name = tool.name
            raise error
        yield from super().stream(request)


class DropsTheChoice(OllamaChatModel):
    def stream(self, request):
        yield from super().stream(replace(request, tool_choice=None))


class TestElsewhere(unittest.TestCase):
    def test_a_connection_that_was_refused_is_an_attempt_to_send(self):
        text = run(CONFIG, made(ConnectsElsewhere)).text
        self.assertIn(
            "- tool name 'get weather': sent elsewhere, which was prevented, and the adapter raised "
            "ModelError: ",
            text,
        )
        self.assertRegex(text, r"\n  request  none\n  refused  look up 192\.0\.2\.1:443 at ")
        text = run(ACCEPTED, made(ConnectsElsewhere)).text
        self.assertIn("- tool name 'a-1': sent elsewhere; expected one request to base_url", text)

    def test_what_is_no_http_is_sent_too(self):
        for check in (CONFIG, TRAPS, HISTORY):
            text = run(check, made(SpeaksNoHTTP)).text
            self.assertIn("sent: 1 request, and then the adapter raised ConfigError", text)

    def test_what_has_nothing_of_the_request_in_it_is_none_of_it(self):
        for check in (CONFIG, TRAPS, ACCEPTED, HISTORY):
            outcome = run(check, Target(new_model=elsewhere.SendsTelemetry, event=parrot.event))
            self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))


class TestUnknownShapes(unittest.TestCase):
    def test_names_are_looked_for_in_what_is_no_json(self):
        outcome = run(ACCEPTED, made(SpellsAForm))
        self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))
        self.assertIn("tool name 'get_weather\\n'", run(TRAPS, made(SpellsAForm)).text)

    def test_a_choice_is_known_by_what_it_is_called(self):
        for spelled in (
            {"tool_choice": "auto"},
            {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
            {"options": [{"function_call": "none"}]},
        ):
            with self.subTest(spelled):
                outcome = run(ACCEPTED, made(type("Says", (SaysChoice,), {"spelled": spelled})))
                self.assertRegex(outcome.text, r"'auto' without tools: a tool choice was sent wit")
        none = type("Says", (SaysChoice,), {"spelled": {"tool_choice": None}})
        self.assertEqual(run(ACCEPTED, made(none)).text, "")

    def test_what_chooses_nothing_is_no_choice(self):
        spelled = {"tool_config": {"parallel": False, "modes": []}}
        outcome = run(ACCEPTED, made(type("Says", (SaysChoice,), {"spelled": spelled})))
        self.assertEqual(outcome.text, "")

    def test_tools_that_are_told_in_the_prompt(self):
        outcome = run(ACCEPTED, made(TellsThePrompt))
        self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))

    def test_a_request_that_is_compressed(self):
        for encoding, compress in (
            ("gzip", gzip.compress),
            ("X-GZIP", gzip.compress),
            ("deflate", zlib.compress),
            ("deflate", deflate),
            ("identity", bytes),
        ):
            with self.subTest(encoding):
                how = {"encoding": encoding, "compress": staticmethod(compress)}
                outcome = run(ACCEPTED, made(type("Model", (Compresses,), how)))
                self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))
                outcome = run(ACCEPTED, made(type("Model", (Compresses,), {**how, "tools": ()})))
                self.assertIn("expected 'get_weather' in the request; it is not", outcome.text)

    def test_a_request_that_cannot_be_read_is_not_judged(self):
        outcome = run(ACCEPTED, made(type("Model", (Compresses,), {"encoding": "br"})))
        self.assertIs(outcome.status, Status.SKIPPED)
        self.assertIn("the request is compressed with br, which is not read here", outcome.text)

    def test_a_request_that_is_not_what_its_head_says(self):
        outcome = run(
            ACCEPTED, made(type("Model", (Compresses,), {"compress": staticmethod(bytes)}))
        )
        self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))

    def test_a_format_that_says_not_where_names_stand(self):
        wire = AcmeLines()
        wired = made(AcmeModel, wire=wire, event=wire.event)
        self.assertEqual(run(ACCEPTED, wired).text, "")


class TestFormats(unittest.TestCase):
    def test_names_that_a_provider_takes_are_not_to_be_refused(self):
        wired = target(wire=Gemini())
        self.assertNotIn("tool name 'a.b'", bad_names(wired, rule_of(wired).refused))
        self.assertIn("tool name 'aaa'… (129 characters)", bad_names(wired, rule_of(wired).refused))

    def test_the_authors_own_rule_goes_first(self):
        own = target(accepted_tool_names=("a.b", "caf\u00e9"), refused_tool_names=("_x",))
        self.assertNotIn("tool name 'a.b'", bad_names(own, rule_of(own).refused))
        self.assertNotIn(r"tool name 'caf\xe9'", bad_names(own, rule_of(own).traps))
        self.assertNotIn("tool name '_x'", good_names(own))

    def test_a_choice_that_cannot_be_expressed_is_to_be_refused(self):
        said = " ".join(dict(bad_choices(target(wire=OllamaChat()))))
        self.assertIn("tool choice 'required', which Ollama cannot express", said)
        self.assertIn("tool choice 'tool', which Ollama cannot express", said)
        # One tool, required, is all that Cohere needs.
        self.assertNotIn("cannot express", " ".join(dict(bad_choices(target(wire=CohereChat())))))
        for wire in (None, OpenAIChat()):
            self.assertNotIn("cannot express", " ".join(dict(bad_choices(target(wire=wire)))))

    def test_dropped_without_a_word_it_is_a_failure(self):
        wire = OllamaChat()
        outcome = self.judge(DropsTheChoice, wire)
        self.assertIn(
            "- tool choice 'required', which Ollama cannot express: sent: 1 request, and the "
            "adapter raised nothing",
            outcome.text,
        )
        self.assertEqual(self.judge(OllamaChatModel, wire).text, "")

    def test_without_a_rule_there_is_nothing_to_trap(self):
        for check in (TRAPS, HISTORY):
            outcome = run(check, target(wire=OllamaChat()))
            self.assertEqual(outcome.status, Status.SKIPPED)
            self.assertIn("Ollama has no rule for the characters of a tool's name", outcome.text)

    def judge(self, model: Any, wire: Any) -> Outcome:
        def new_model(url: str, client: Any) -> Any:
            return model(url, api_key="key", session=client)

        return run(CONFIG, target(new_model=new_model, wire=wire, event=wire.event))


class TestQuoting(unittest.TestCase):
    NAMES = ("weather\n\u00e9", "w" * 70, 'say "when"', "a\\b", "")

    def test_however_it_is_escaped(self):
        for model in (Escapes, CarriesTheName):
            with self.subTest(model.__name__):
                outcome = run(REFUSED_NAMES, made(model, refused_tool_names=self.NAMES))
                self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))


class TestClients(unittest.TestCase):
    def test_an_adapter_that_brings_its_own_client(self):
        wire = OpenAIChat()
        own = Target(
            new_model=lambda url, _: OpenAIChatModel(url, api_key="key"),
            event=wire.event,
            wire=wire,
            transport=OwnTransport(),
        )
        for check in (CONFIG, TRAPS, ACCEPTED, HISTORY):
            outcome = run(check, own)
            self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))


if __name__ == "__main__":
    unittest.main()
