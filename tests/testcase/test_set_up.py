"""What an author can get wrong in a test case, and what it then says."""

import os
import re
import threading
import unittest
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import requests

from modeltest import (
    AsyncModelContractTestCase,
    ConfigError,
    ContractWarning,
    Finish,
    ModelContractTestCase,
    ModelError,
    OwnTransport,
    Request,
    RequestsTransport,
    TextDelta,
    Urllib3Transport,
    Usage,
    user,
)
from modeltest.checks import ALL
from modeltest.delivery import Target
from modeltest.demo.acme import AcmeModel
from modeltest.harness import SetUpError, Status
from modeltest.testcases.adapter import target_of, try_out
from modeltest.wire import OllamaChat, OpenAIChat, UsagePlacement, WireFormat
from tests.adapters.home_made_wire import AcmeLines

from .running import SET_UP, acme, case, event, new_model, run, text_of


def target(**attributes: Any) -> Target:
    return target_of(acme(**attributes)(SET_UP))


class TestMissing(unittest.TestCase):
    """What is missing fails one test; all others are skipped with the reason."""

    def assert_one_failure(self, tests: type[unittest.TestCase], pattern: str) -> None:
        result = run(tests)
        self.assertEqual(result.testsRun, len(ALL) + 1)
        ((failed, text),) = result.failures
        self.assertEqual(failed.id().rpartition(".")[2], SET_UP)
        self.assertRegex(text, pattern)
        self.assertEqual(result.errors, [])
        self.assertEqual(len(result.skipped), len(ALL))
        first = text.removeprefix("AssertionError: ").splitlines()[0]
        for _, reason in result.skipped:
            self.assertEqual(reason, f"see {SET_UP}: {first}")

    def test_new_model(self) -> None:
        tests = case(event=staticmethod(event))
        self.assert_one_failure(tests, r"TestAcme has no new_model: define new_model\(base_url, cl")

    def test_event(self) -> None:
        tests = case(new_model=staticmethod(new_model))
        self.assert_one_failure(tests, r"TestAcme has no event: define event\(i\)")

    def test_an_expected_failure_does_not_hide_it(self) -> None:
        tests = case(event=staticmethod(event), expected_failures={"truncation/clean": "known"})
        self.assert_one_failure(tests, "TestAcme has no new_model")


class TestWrongNewModel(unittest.TestCase):
    def assert_problem(self, pattern: str, **attributes: Any) -> str:
        text = text_of(run(acme(**attributes), SET_UP))
        self.assertRegex(text, pattern)
        return text

    def test_nothing(self) -> None:
        self.assert_problem(
            r"new_model gave None: expected an adapter with a method stream\(request\)",
            new_model=lambda base_url, client: None,
        )

    def test_something_without_stream(self) -> None:
        self.assert_problem(
            r"new_model gave <.*Mock.*>: expected an adapter with a method stream",
            new_model=lambda base_url, client: mock.Mock(spec=["create"], name="Mock"),
        )

    def test_it_raises(self) -> None:
        def make(base_url: str, client: Any) -> Any:
            return AcmeModel(base_url, session=client)  # type: ignore[call-arg]

        text = self.assert_problem(
            r"new_model\('http://127\.0\.0\.1:\d+', client\) raised TypeError: .*'api_key'",
            new_model=make,
        )
        # … and where, as far as the author's own code goes.
        self.assertIn("return AcmeModel(base_url, session=client)", text)
        self.assertNotIn("modeltest/consumer", text.partition("in make")[2])

    def test_it_raises_what_would_end_the_process(self) -> None:
        def make(base_url: str, client: Any) -> Any:
            raise SystemExit(3)

        self.assert_problem("new_model.* raised SystemExit: 3", new_model=make)

    def test_it_hangs(self) -> None:
        blocked = threading.Event()
        self.addCleanup(blocked.set)

        def make(base_url: str, client: Any) -> Any:
            blocked.wait()

        self.assert_problem(
            r"set-up: new_model\(\) did not return within 0\.5 s; the stack shows where it wai.*\n"
            r"  stack (.*\n)*.*test_set_up\.py:\d+ in make: blocked\.wait\(\)",
            new_model=make,
            deadline=0.5,
        )

    def test_it_fails_later(self) -> None:
        # The set-up was fine, so nobody would see the reason of a skip: it is an error.
        made = iter(range(2))

        def make(base_url: str, client: Any) -> Any:
            next(made)
            return new_model(base_url, client)

        result = run(acme(new_model=make), SET_UP, "test_truncated_is_an_error")
        self.assertEqual(result.failures, [])
        ((_, text),) = result.errors
        self.assertRegex(text, "SetUpError: new_model.* raised StopIteration")


class TestWrongEvent(unittest.TestCase):
    def assert_problem(self, pattern: str, event: Any, **attributes: Any) -> None:
        attributes |= {"event": event}
        self.assertRegex(text_of(run(acme(**attributes), SET_UP)), pattern)

    def test_no_blank_line(self) -> None:
        self.assert_problem(
            r"event\(0\) gave b'data: \{\}\\n': expected a server-sent event with its blank line",
            lambda i: "data: {}\n",
        )

    def test_no_text(self) -> None:
        self.assert_problem(r"event\(0\) gave \{\}: expected str or bytes", lambda i: {})

    def test_it_raises(self) -> None:
        words = ["one", "two"]
        self.assert_problem(
            # Not only the first ones are tried: the response is endless.
            r"event\(9999\) raised IndexError.*\n(.*\n)*.*in <lambda>",
            lambda i: f'data: {{"text": "{words[i]}"}}\n\n',
        )

    def test_it_hangs(self) -> None:
        blocked = threading.Event()
        self.addCleanup(blocked.set)
        self.assert_problem(
            r"set-up: event\(i\) did not return within 0\.5 s\.\n"
            r"  stack (.*\n)*.*test_set_up\.py:\d+ in <lambda>: lambda i: blocked\.wait",
            lambda i: blocked.wait(),
            deadline=0.5,
        )

    def test_the_adapter_makes_nothing_of_it(self) -> None:
        self.assert_problem(
            r"set-up: the adapter made no event of b': nothing\\n\\n' and the next one: it raised "
            r"IncompleteResponseError.*\n  server .*\n(  .*\n)*  fix +see what is said above",
            lambda i: ": nothing\n\n",
        )

    def test_too_many_parameters(self) -> None:
        self.assert_problem(
            r"TestAcme\.event takes \(i, j\): expected event\(i\)", lambda self, i, j: ""
        )


class TestWrongAdapter(unittest.TestCase):
    def test_it_ignores_base_url(self) -> None:
        def make(base_url: str, client: Any) -> Any:
            return new_model("http://provider.example", client)

        text = text_of(run(acme(new_model=make), SET_UP))
        self.assertRegex(text, r"set-up: the adapter sent no request to http://127\.0\.0\.1:\d+: ")
        self.assertRegex(text, r"\n  refused  look up provider\.example:80 at .*acme\.py:\d+")

    def test_it_hangs(self) -> None:
        blocked = threading.Event()
        self.addCleanup(blocked.set)

        class Model:
            def stream(self, request: Request) -> Any:
                blocked.wait()

        tests = acme(new_model=lambda base_url, client: Model(), deadline=0.5)
        result = run(tests, SET_UP, "test_break_releases", "test_close_releases")
        self.assertRegex(
            text_of(result),
            r"set-up: stream\(\) did not return within 0\.5 s; the stack shows where it waits\.\n"
            r"  stack (.*\n)*.*in stream: blocked\.wait\(\)\n(.*\n)*  server   received no request",
        )
        # It would hang each of them, too.
        self.assertEqual(len(result.skipped), 2)


class Chat:
    """An adapter with another method, other requests and events of its own."""

    def __init__(self, base_url: str, client: Any) -> None:
        self._model = new_model(base_url, client)

    def ask(self, prompt: str, tools: Any, choice: Any) -> Iterator[dict[str, str]]:
        for given in self._model.stream(Request((user(prompt),), tools, choice)):
            match given:
                case TextDelta(text):
                    yield {"word": text}
                case Finish(reason):
                    yield {"end": reason}


def ask(model: Chat, request: Request) -> Any:
    return model.ask(request.messages[0].text, request.tools, request.tool_choice)


def translate(given: dict[str, str]) -> Any:
    if "word" in given:
        return TextDelta(given["word"])
    return Finish(given["end"], raw=given["end"])


class TestHooks(unittest.TestCase):
    def chat(self, **attributes: Any) -> type[ModelContractTestCase]:
        hooks = {"open_stream": ask, "translate": translate}
        return acme(new_model=Chat, **{**hooks, **attributes})

    def assert_problem(self, pattern: str, **attributes: Any) -> None:
        self.assertRegex(text_of(run(self.chat(**attributes), SET_UP)), pattern)

    def test_an_adapter_that_knows_nothing_of_modeltest(self) -> None:
        result = run(self.chat())
        self.assertEqual((result.failures, result.errors), ([], []))
        self.assertGreater(result.testsRun - len(result.skipped), 20)

    def test_they_may_be_methods(self) -> None:
        for make in staticmethod, lambda hook: lambda self, *args: hook(*args):
            given = self.chat(open_stream=make(ask), translate=make(translate))
            with self.subTest(make):
                self.assertEqual(run(given, SET_UP).failures, [])

    def test_neither_stream_nor_hook(self) -> None:
        self.assert_problem(
            r"new_model gave <.*Chat object.*>: expected an adapter with a method "
            r"stream\(request\), or a test case with open_stream\(model, request\)",
            open_stream=None,
        )

    def test_wrong_signatures(self) -> None:
        self.assert_problem(
            r"TestAcme\.open_stream takes \(model\): expected open_stream\(model, request\)",
            open_stream=lambda self, model: None,
        )
        self.assert_problem(
            r"TestAcme\.translate takes \(a, b\): expected translate\(event\)",
            translate=lambda self, a, b: None,
        )
        self.assert_problem(r"TestAcme\.translate is 7: expected translate\(event\)", translate=7)

    def test_a_translate_that_is_asynchronous(self) -> None:
        async def later(event: Any) -> Any: ...

        self.assert_problem(
            r"TestAcme\.translate is asynchronous: expected a plain function", translate=later
        )

    def test_an_open_stream_that_is_asynchronous(self) -> None:
        async def later(model: Chat, request: Request) -> Any: ...

        self.assert_problem(r"open_stream\(\) is asynchronous", open_stream=later)

    def test_a_translate_that_raises_is_not_the_adapters_fault(self) -> None:
        self.assert_problem(
            r"set-up: translate\(\{'word': 'word 0 '\}\) raised KeyError\('text'\)\.\n(.*\n)*"
            r"  fix +correct the test case's translate\(event\): expected an event of modeltest",
            translate=lambda given: TextDelta(given["text"]),
        )

    def test_a_translate_that_gives_no_event(self) -> None:
        self.assert_problem(
            r"set-up: translate\(\{'word': 'word 0 '\}\) gave 'word 0 '; expected an event of mod",
            translate=lambda given: given.get("word"),
        )


class TestAttributes(unittest.TestCase):
    """Each attribute reaches the checks as it was given, or is refused with what is expected."""

    def test_defaults(self) -> None:
        given = target()
        self.assertIsInstance(given.transport, RequestsTransport)
        self.assertEqual(given.request, Request(messages=(user("hi"),)))
        self.assertIs(given.model_error, ModelError)
        self.assertIs(given.config_error, ConfigError)
        self.assertIsNone(given.wire)
        self.assertIn("secret", given.api_key)
        self.assertEqual(given.retries, 0)
        self.assertIsNone(given.idle_timeout)
        self.assertEqual(given.refused_tool_names, ())
        self.assertEqual(given.accepted_tool_names, ())
        self.assertEqual(given.deadline, 2.0)
        self.assertIs(ModelContractTestCase.strict, False)

    def test_every_attribute_is_checked_or_used(self) -> None:
        """One that is added later must be told of here."""
        own = {
            name
            for name, value in vars(ModelContractTestCase.__mro__[1]).items()
            if not name.startswith("_") and not callable(value)
        }
        wrong = {attributes for attributes, _, _ in self.wrong()}
        hooks = {"open_stream", "translate"}  # see TestHooks
        self.assertEqual(own - wrong - hooks, {"api_key", "expected_failures", "skips", "strict"})

    def test_what_is_given_is_used(self) -> None:
        request = Request(messages=(user("what?"),))
        for name, value in (
            ("transport", Urllib3Transport()),
            ("request", request),
            ("model_error", (OSError, ValueError)),
            ("model_error", KeyboardInterrupt),
            ("config_error", ValueError),
            ("wire", OpenAIChat()),
            ("api_key", "another-key"),
            ("retries", 2),
            ("idle_timeout", 0.5),
            ("refused_tool_names", ("a", "b")),
            ("accepted_tool_names", ["c"]),
            ("deadline", 7),
        ):
            with self.subTest(name):
                self.assertEqual(getattr(target(**{name: value}), name), value)

    def test_a_class_does_for_its_instance(self) -> None:
        self.assertIsInstance(target(transport=Urllib3Transport).transport, Urllib3Transport)
        self.assertIsInstance(target(wire=OpenAIChat).wire, OpenAIChat)

    @staticmethod
    def wrong() -> list[tuple[str, Any, str]]:
        exceptions = "an exception class or a tuple of them"
        return [
            ("transport", None, "a Transport such as RequestsTransport()"),
            ("transport", "requests", "a Transport such as RequestsTransport()"),
            ("wire", "openai", "a WireFormat such as OpenAIChat(), or None"),
            ("request", user("hi"), "a Request"),
            ("model_error", None, exceptions),
            ("model_error", (), exceptions),
            ("model_error", ModelError("an instance"), exceptions),
            ("model_error", (ModelError, "text"), exceptions),
            ("config_error", int, exceptions),
            ("retries", -1, "a number, 0 or more"),
            ("retries", None, "a number, 0 or more"),
            ("idle_timeout", 0, "seconds above 0, an hour at most, or None"),
            ("idle_timeout", "1", "seconds above 0, an hour at most, or None"),
            ("refused_tool_names", "name", "a tuple of names"),
            ("refused_tool_names", None, "a tuple of names"),
            ("accepted_tool_names", (1,), "a tuple of names"),
            ("deadline", True, "seconds above 0, an hour at most"),
            ("deadline", 0, "seconds above 0, an hour at most"),
            ("deadline", -1.0, "seconds above 0, an hour at most"),
            ("deadline", "2", "seconds above 0, an hour at most"),
            ("deadline", None, "seconds above 0, an hour at most"),
            ("deadline", float("inf"), "seconds above 0, an hour at most"),
            ("deadline", 1e9, "seconds above 0, an hour at most"),
            ("deadline", float("nan"), "seconds above 0, an hour at most"),
        ]

    def test_what_cannot_be_used_is_refused(self) -> None:
        for name, value, expected in self.wrong():
            with self.subTest(name, value=value), self.assertRaises(SetUpError) as caught:
                target(**{name: value})
            self.assertEqual(
                str(caught.exception), f"TestAcme.{name}: expected {expected}, got {value!r}"
            )

    def test_what_raises_fails_one_test_and_skips_the_others(self) -> None:
        class Unfinished(WireFormat):
            name = "Unfinished"

        def raises(_: Any) -> str:
            raise KeyError("ACME_KEY")

        for name, value, said in (
            ("api_key", property(raises), r"KeyError\('ACME_KEY'\)"),
            ("wire", Unfinished, "Unfinished "),
        ):
            with self.subTest(name):
                result = run(acme(**{name: value}), SET_UP, "test_break_releases")
                self.assertRegex(text_of(result), rf"^AssertionError: TestAcme\.{name}: {said}")
                self.assertEqual(len(result.skipped), 1)

    def test_an_api_key_that_cannot_be_used_is_not_shown(self) -> None:
        for value in ("", "sk-1234", None):
            with self.subTest(value=value), self.assertRaises(SetUpError) as caught:
                target(api_key=value)
            self.assertEqual(
                str(caught.exception),
                "TestAcme.api_key: expected a text of 8 characters or more, which the kit can "
                "recognise where it goes, got one that does not fit",
            )

    def test_the_wire_gives_the_event(self) -> None:
        tests = case(new_model=staticmethod(new_model), wire=OpenAIChat())
        given = target_of(tests(SET_UP))
        self.assertEqual(given.event(3), OpenAIChat().event(3))

    def test_an_own_event_goes_first(self) -> None:
        self.assertEqual(target(wire=OpenAIChat()).event(3), event(3).encode())

    def test_a_format_without_blank_lines_needs_none(self) -> None:
        line = target(wire=OllamaChat(), event=lambda i: '{"message": {}}\n')
        self.assertEqual(line.event(0), b'{"message": {}}\n')

    def test_an_asynchronous_test_case_has_the_same_attributes(self) -> None:
        attributes = {"new_model": staticmethod(new_model), "event": staticmethod(event)}
        tests = type("TestAcme", (AsyncModelContractTestCase,), attributes)
        self.assertEqual(target_of(tests(SET_UP)).deadline, 2.0)


class TestDeadlineScale(unittest.TestCase):
    def scaled(self, text: str) -> Target:
        with mock.patch.dict(os.environ, MODELTEST_DEADLINE_SCALE=text):
            return target(deadline=2.0)

    def test_it_multiplies_the_deadline(self) -> None:
        self.assertEqual(self.scaled("2.5").deadline, 5.0)

    def test_what_is_no_scale_is_refused(self) -> None:
        for text in ("", "fast", "0", "-1", "inf", "nan"):
            with (
                self.subTest(text),
                self.assertRaisesRegex(
                    SetUpError,
                    f"^MODELTEST_DEADLINE_SCALE: expected a number above 0, got '{text}'$",
                ),
            ):
                self.scaled(text)

    def test_it_fails_the_set_up(self) -> None:
        with mock.patch.dict(os.environ, MODELTEST_DEADLINE_SCALE="fast"):
            result = run(acme(), SET_UP, "test_break_releases")
        self.assertIn("MODELTEST_DEADLINE_SCALE", text_of(result))
        self.assertEqual(len(result.skipped), 1)


class TestWrongTurn(unittest.TestCase):
    """Events that end the turn, and wires of another provider."""

    def test_an_event_that_ends_the_turn(self) -> None:
        def event(i: int) -> str:
            return f'data: {{"text": "word {i}"}}\n\ndata: {{"done": "stop"}}\n\n'

        text = text_of(run(acme(event=staticmethod(event)), SET_UP))
        self.assertRegex(text, r"the turn ended although its events went on: the adapter gave Fini")
        self.assertRegex(
            text, r"\n  fix      let event\(i\) give text alone, whatever i: no finish"
        )

    def test_an_adapter_that_holds_events_back_is_judged_elsewhere(self) -> None:
        class Whole(AcmeModel):
            def stream(self, request: Request) -> Any:
                events: list[Any] = []
                try:
                    events += super().stream(request)
                finally:
                    yield from events

        def make(base_url: str, client: Any) -> Any:
            return Whole(base_url, client, "key")

        result = run(acme(new_model=make, deadline=0.3), SET_UP)
        self.assertTrue(result.wasSuccessful(), result.failures)

    def test_a_wire_that_is_not_the_adapters(self) -> None:
        new = staticmethod(new_model)
        for name, tests in (
            ("beside events that are", acme(wire=OpenAIChat())),
            ("alone", case(wire=OpenAIChat(), new_model=new)),
        ):
            with self.subTest(name):
                text = text_of(run(tests, SET_UP))
                self.assertIn("fix      set `wire` to the format that the adapter reads", text)

    def test_a_wire_that_cannot_spell(self) -> None:
        class Twice(AcmeLines):
            usage_placements = (UsagePlacement.ON,)

            def usage_event(self, usage: Usage) -> Any:
                return {"finish": "twice"}

            def finish_event(self, word: str) -> Any:
                return {"finish": word}

            def merge(self, payloads: Any) -> Any:
                return self.join(payloads)

        text = text_of(run(acme(wire=Twice()), SET_UP))
        self.assertRegex(
            text,
            r"Twice cannot encode a turn: Acme.*: one event cannot say \['finish'\] twice; leave it to "
            r"one of the hooks, or override merge",
        )


class TestClient(unittest.TestCase):
    """An adapter that is handed a client, and uses another."""

    def test_it_is_told_of_once(self) -> None:
        def make(base_url: str, client: Any) -> Any:
            return AcmeModel(base_url, requests.Session(), "key")

        text = (
            r"^set-up: the adapter does not use the client of RequestsTransport that new_model was "
            r"given: .*\n(.*\n)*  fix      pass `client` .* `transport = OwnTransport\(\)`$"
        )
        with self.assertWarnsRegex(ContractWarning, text):
            result = run(acme(new_model=make), SET_UP, "test_truncated_is_an_error")
        self.assertTrue(result.wasSuccessful(), result.failures)

    def test_who_brings_its_own_says_so(self) -> None:
        def make(base_url: str, client: None) -> Any:
            return AcmeModel(base_url, requests.Session(), "key")

        with warnings.catch_warnings():
            warnings.simplefilter("error", ContractWarning)
            result = run(acme(new_model=make, transport=OwnTransport()), SET_UP)
        self.assertTrue(result.wasSuccessful(), result.failures)


class TestProblem(unittest.TestCase):
    def test_there_is_none(self) -> None:
        self.assertIs(try_out(acme()(SET_UP)).status, Status.PASSED)

    def test_it_is_looked_for_once_a_class(self) -> None:
        made: list[str] = []

        def make(base_url: str, client: Any) -> Any:
            made.append(base_url)

        run(acme(new_model=make))
        self.assertEqual(len(made), 1)

    def test_it_keeps_nothing_of_the_adapter(self) -> None:
        """The text is kept for the class's other tests; a traceback would keep the adapter."""
        import weakref

        class Model:
            def stream(self, request: Request) -> Any:
                yield TextDelta("a")

        kept: list[weakref.ref[Any]] = []

        def make(base_url: str, client: Any) -> Any:
            model = Model()
            kept.append(weakref.ref(model))
            raise ValueError(base_url)

        tests = acme(new_model=make)
        self.assertTrue(re.search("raised ValueError", text_of(run(tests, SET_UP))))
        import gc

        gc.collect()
        self.assertEqual([reference() for reference in kept], [None])


if __name__ == "__main__":
    unittest.main()
