"""How what a check finds becomes a test's result."""

import contextlib
import socket
import unittest
import warnings
from typing import Any
from unittest import mock

from modeltest import (
    ContractWarning,
    Finish,
    ModelContractTestCase,
    Request,
    SSEReaderTestCase,
    TextDelta,
)
from modeltest.checks import BY_NAME
from modeltest.demo.acme import AcmeModel
from modeltest.demo.naive import NaiveModel
from modeltest.harness import Outcome, Status

from .running import SET_UP, acme, case, run, text_of

CLEAN = "test_truncated_is_an_error"
EMPTY = "test_empty_response_is_an_error"
GZIP = "test_cut_gzip_body_is_an_error"
"""A SHOULD, which the naive adapter does not keep and acme's skips."""
BLOCKED = "test_cancel_while_blocked_releases"
REFUSED_NAMES, ACCEPTED_NAMES = "test_refused_tool_names", "test_accepted_tool_names"


def naive(**attributes: Any) -> type[ModelContractTestCase]:
    """Return a test case of the adapter that fails the checks above."""
    return acme(
        new_model=lambda base_url, client: NaiveModel(base_url, client, "key"), **attributes
    )


def method(test: unittest.TestCase) -> str:
    return test.id().rpartition(".")[2]


def raising_script(error: Exception) -> Any:
    """Let every script of the kit raise."""
    return mock.patch("modeltest.backend.scripts.End", lambda: Exploding(error))


class Exploding:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self, writer: Any) -> None:
        raise self.error

    def __repr__(self) -> str:
        return "Exploding()"


class TestVerdicts(unittest.TestCase):
    def test_a_check_that_holds_passes(self) -> None:
        result = run(acme(), CLEAN)
        self.assertTrue(result.wasSuccessful())
        self.assertEqual((result.testsRun, result.skipped), (1, []))

    def test_a_check_that_does_not_hold_fails_with_its_text_alone(self) -> None:
        text = text_of(run(naive(), CLEAN))
        self.assertRegex(text, r"\AAssertionError: truncation/clean: ")
        self.assertRegex(text, r"\n  fix +give a Finish only when .*\n\Z")
        self.assertNotIn("Traceback", text)

    def test_a_check_that_cannot_judge_is_skipped_with_the_reason(self) -> None:
        ((_, reason),) = run(acme(), GZIP).skipped
        self.assertIn("does not accept gzip", reason)


class TestShould(unittest.TestCase):
    def test_it_warns_and_points_at_the_test_case(self) -> None:
        class TestNaive(naive()):  # type: ignore[misc]
            pass

        with self.assertWarns(ContractWarning) as caught:
            result = run(TestNaive, GZIP)
        self.assertTrue(result.wasSuccessful())
        self.assertEqual(caught.filename, __file__)
        self.assertRegex(str(caught.warning), r"\Atruncation/gzip: (.*\n)+  fix +ask for")

    def test_it_warns_for_a_class_that_has_no_source(self) -> None:
        with self.assertWarnsRegex(ContractWarning, "truncation/gzip"):
            run(naive(), GZIP)

    def test_it_warns_each_time(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            run(naive(), GZIP, GZIP)
        self.assertEqual(len(caught), 2)

    def test_under_strict_it_fails(self) -> None:
        self.assertIn("truncation/gzip: ", text_of(run(naive(strict=True), GZIP)))

    def test_it_may_be_expected(self) -> None:
        result = run(naive(expected_failures={"truncation/gzip": "known"}), GZIP)
        self.assertEqual(len(result.expectedFailures), 1)

    def test_a_should_case_of_a_must_warns(self) -> None:
        class Model:
            """Ignores the token until the headers are there."""

            def __init__(self, *given: Any) -> None:
                self._acme = AcmeModel(*given)

            def stream(self, request: Request, cancel: Any) -> Any:
                return BlockedHead(self._acme, request, cancel)

        tests = acme(
            new_model=lambda base_url, client: Model(base_url, client, "key"), deadline=1.0
        )
        with self.assertWarns(ContractWarning) as caught:
            result = run(tests, BLOCKED)
        self.assertTrue(result.wasSuccessful(), result.failures)
        self.assertRegex(
            str(caught.warning), r"\Arelease/blocked: before the headers \[SHOULD\]: stream\(\) did"
        )
        self.assertIn(
            "before the headers [SHOULD]",
            text_of(run(acme(**vars(tests), strict=True), BLOCKED)),  # type: ignore[arg-type]
        )


class BlockedHead:
    """A stream that can be closed while its reader waits, once the response is there."""

    def __init__(self, model: AcmeModel, request: Request, cancel: Any) -> None:
        self._response = model._session.post(model._url, json={}, stream=True)
        cancel.add_callback(self.shut_down)

    def shut_down(self) -> None:
        self._response.raw.shutdown()

    def __iter__(self) -> Any:
        try:
            while self._response.raw.read1():
                yield TextDelta("word")
        finally:
            self._response.close()

    def close(self) -> None:
        self._response.close()


class TestExpectedFailures(unittest.TestCase):
    def test_by_id_and_by_method(self) -> None:
        for name in ("truncation/clean", CLEAN):
            with self.subTest(name):
                result = run(naive(expected_failures={name: "known"}), CLEAN, EMPTY)
                self.assertEqual(len(result.expectedFailures), 1)
                self.assertEqual(len(result.failures), 1)

    def test_an_id_of_two_checks_names_both(self) -> None:
        for name, expected in {
            "tools/names": {REFUSED_NAMES, ACCEPTED_NAMES},
            REFUSED_NAMES: {REFUSED_NAMES},
            ACCEPTED_NAMES: {ACCEPTED_NAMES},
        }.items():
            with self.subTest(name):
                # Of a weather_2 acme says nothing wrong, and of a weather$ it does.
                tests = acme(
                    expected_failures={name: "known"},
                    refused_tool_names=("weather_2",),
                    accepted_tool_names=("weather$",),
                )
                result = run(tests, REFUSED_NAMES, ACCEPTED_NAMES)
                self.assertEqual({method(test) for test, _ in result.expectedFailures}, expected)
                self.assertEqual(len(result.failures), 2 - len(expected))

    def test_of_the_should_cases_of_an_id_of_two_checks(self) -> None:
        tests = acme(
            expected_failures={"tools/names [SHOULD]": "known"}, refused_tool_names=("weather_2",)
        )
        result = run(tests, REFUSED_NAMES, ACCEPTED_NAMES)
        self.assertEqual((len(result.failures), len(result.skipped)), (1, 1))

    def test_of_the_should_cases_alone(self) -> None:
        def outcome(status: Status) -> Any:
            check = BY_NAME["truncation/clean"]
            return mock.patch.object(tests, "outcome_of", lambda *_: Outcome(check, status, "why"))

        tests = naive(expected_failures={"truncation/clean [SHOULD]": "known"})
        with outcome(Status.WARNED):
            result = run(tests, CLEAN)
        self.assertEqual((len(result.expectedFailures), result.wasSuccessful()), (1, True))
        with outcome(Status.FAILED):
            result = run(tests, CLEAN)
        self.assertFalse(result.wasSuccessful())
        self.assertIn("AssertionError: why", result.failures[0][1])
        with outcome(Status.PASSED):
            self.assertEqual(len(run(tests, CLEAN).unexpectedSuccesses), 1)
        with self.assertRaisesRegex(TypeError, r"names 'truncation/clean \[SHOULD\]', which is no"):
            naive(skips={"truncation/clean [SHOULD]": "no"})

    def test_the_reason_is_in_the_description(self) -> None:
        test = naive(expected_failures={"truncation/clean": "ticket 12"})(CLEAN)
        self.assertEqual(
            test.shortDescription(),
            "A body that ends cleanly in mid-answer is an error. (expected to fail: ticket 12)",
        )

    def test_one_that_passes_is_an_unexpected_success(self) -> None:
        result = run(acme(expected_failures={"truncation/clean": "known"}), CLEAN)
        self.assertEqual(len(result.unexpectedSuccesses), 1)
        self.assertFalse(result.wasSuccessful())

    def test_one_that_is_skipped_is_skipped(self) -> None:
        result = run(acme(expected_failures={"truncation/gzip": "known"}), GZIP)
        self.assertEqual((len(result.skipped), result.unexpectedSuccesses), (1, []))

    def test_a_fault_of_the_kit_is_not_swallowed(self) -> None:
        with raising_script(ValueError("no such step")):
            result = run(acme(expected_failures={"truncation/clean": "known"}), CLEAN)
        self.assertEqual(result.expectedFailures, [])
        ((_, text),) = result.errors
        self.assertRegex(
            text, r"BackendError: .*ValueError\('no such step'\) at step Exploding\(\)"
        )

    def test_a_set_up_error_is_not_swallowed(self) -> None:
        made = iter(range(2))  # by the set-up

        def make(base_url: str, client: Any) -> Any:
            next(made)
            return NaiveModel(base_url, client, "key")

        tests = acme(new_model=make, expected_failures={"truncation/clean": "known"})
        result = run(tests, SET_UP, CLEAN)
        self.assertEqual(result.expectedFailures, [])
        ((_, text),) = result.errors
        self.assertRegex(text, r"SetUpError: new_model.* raised StopIteration")


class TestIdleTimeout(unittest.TestCase):
    """A busy machine's pauses must not look like the provider's silence."""

    def test_it_is_long_but_where_silence_is_tested(self) -> None:
        seen: list[float] = []

        def new_model(self: Any, base_url: str, client: Any) -> AcmeModel:
            seen.append(self.idle_timeout)
            return AcmeModel(base_url, client, self.api_key)

        tests = acme(new_model=new_model, idle_timeout=0.1)
        run(tests, SET_UP, CLEAN)
        self.assertEqual(set(seen), {6.0})
        seen.clear()
        run(tests, "test_silence_is_an_error")
        self.assertEqual(set(seen), {0.1})

    def test_one_that_is_long_already_is_an_hour_at_most(self) -> None:
        seen: list[float] = []

        def new_model(self: Any, base_url: str, client: Any) -> AcmeModel:
            seen.append(self.idle_timeout)
            return AcmeModel(base_url, client, self.api_key)

        result = run(acme(new_model=new_model, idle_timeout=90), SET_UP, CLEAN)
        self.assertTrue(result.wasSuccessful(), result.failures)
        self.assertEqual(set(seen), {3600})

    def test_it_may_be_a_property(self) -> None:
        for given in None, 0.5:
            with self.subTest(given):
                tests = acme(idle_timeout=property(lambda _, given=given: given))
                self.assertTrue(run(tests, SET_UP, CLEAN).wasSuccessful())

    def test_a_property_that_can_be_set_is_given_back(self) -> None:
        class TestAcme(acme()):  # type: ignore[misc]
            kept = 0.1

            @property
            def idle_timeout(self) -> float:
                return self.kept

            @idle_timeout.setter
            def idle_timeout(self, value: float) -> None:
                self.kept = value

        test = TestAcme(CLEAN)
        test.run()
        self.assertEqual(test.idle_timeout, 0.1)

    def test_the_attribute_is_as_before(self) -> None:
        test = acme(idle_timeout=0.1)(CLEAN)
        test.run()
        self.assertEqual(test.idle_timeout, 0.1)


class TestFaultsOfTheKit(unittest.TestCase):
    def test_they_are_errors_and_say_whose_they_are(self) -> None:
        with raising_script(ValueError("no such step")):
            result = run(acme(), CLEAN)
        self.assertEqual(result.failures, [])
        ((_, text),) = result.errors
        self.assertRegex(
            text, r"BackendError: .*ValueError\('no such step'\) at step Exploding\(\)"
        )
        self.assertIn("modeltest failed here, not the adapter", text)

    def test_they_go_before_what_the_adapter_did(self) -> None:
        with raising_script(ValueError("no such step")):
            result = run(naive(), CLEAN)
        self.assertEqual((len(result.failures), len(result.errors)), (0, 1))


class TestSkips(unittest.TestCase):
    def test_by_id_and_by_method(self) -> None:
        for name in ("truncation/clean", CLEAN):
            with self.subTest(name):
                result = run(naive(skips={name: "not now"}), CLEAN)
                self.assertEqual([reason for _, reason in result.skipped], ["not now"])

    def test_a_group_and_what_is_said_of_one_check(self) -> None:
        for skips in (
            {"truncation/*": "no", "truncation/clean": "not now"},
            {CLEAN: "not now", "truncation/*": "no"},
        ):
            result = run(naive(skips=skips), CLEAN, EMPTY)
            self.assertEqual([reason for _, reason in result.skipped], ["not now", "no"])

    def test_a_skip_goes_before_an_expected_failure(self) -> None:
        both = naive(skips={CLEAN: "not now"}, expected_failures={CLEAN: "known"})
        self.assertEqual(len(run(both, CLEAN).skipped), 1)


class TestNames(unittest.TestCase):
    """What the two dictionaries may hold is checked when the class is made."""

    def test_a_typo(self) -> None:
        for attribute in ("expected_failures", "skips"):
            for name, meant in (
                ("truncation/claen", r"; did you mean 'truncation/clean'\?"),
                ("test_truncated", r"; did you mean 'test_truncated_\w+'\?"),
                (SET_UP, ""),
                (3, ""),
            ):
                with (
                    self.subTest(attribute, name=name),
                    self.assertRaisesRegex(
                        TypeError,
                        f"^TestAcme.{attribute} names {name!r}, which is no check; see "
                        rf"`python -m modeltest checks`{meant}$",
                    ),
                ):
                    case(**{attribute: {name: "reason"}})

    def test_no_reason(self) -> None:
        for reason in ("", " ", None):
            with (
                self.subTest(reason),
                self.assertRaisesRegex(
                    TypeError,
                    rf"^TestAcme.skips\['{CLEAN}'\] needs a reason, got {reason!r}$",
                ),
            ):
                case(skips={CLEAN: reason})

    def test_no_dictionary(self) -> None:
        with self.assertRaisesRegex(
            TypeError, r"^TestAcme.skips: expected a dict of check name → reason, got \['x'\]$"
        ):
            case(skips=["x"])

    def test_a_typo_in_an_abstract_base(self) -> None:
        with self.assertRaises(TypeError):

            class Base(ModelContractTestCase, abstract=True):
                skips = {"truncation/claen": "reason"}


class TestSlips(unittest.TestCase):
    """An attribute that nobody reads, but whose name looks like one that is read."""

    def test_it_is_named_where_the_class_is_made(self) -> None:
        for name, meant in (
            ("retires", "retries"),
            ("idle_timout", "idle_timeout"),
            ("skip", "skips"),
            ("expected_failure", "expected_failures"),
            ("newmodel", "new_model"),
        ):
            text = rf"^TestAcme\.{name} is not read; did you mean '{meant}'\?$"
            with self.subTest(name), self.assertWarnsRegex(ContractWarning, text) as caught:

                class TestAcme(ModelContractTestCase):
                    vars()[name] = None

            self.assertEqual(caught.filename, __file__)

    def test_of_a_reader(self) -> None:
        text = r"^TestAcme\.stream_see is not read; did you mean 'stream_sse'\?$"
        with self.assertWarnsRegex(ContractWarning, text):
            type("TestAcme", (SSEReaderTestCase,), {"stream_see": None})

    def test_the_authors_own_attributes_are_fine(self) -> None:
        own = ("requests", "events", "wires", "model", "key", "url", "base_url", "new_client")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            case(**dict.fromkeys([*own, "_retires", "test_retires", "setUp", "maxDiff"]))

    def test_what_a_base_defines_is_told_of_once(self) -> None:
        with self.assertWarns(ContractWarning):
            base = type("Base", (ModelContractTestCase,), {"retires": 2})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            type("TestAcme", (base,), {"retires": 3})


class TestMischief(unittest.TestCase):
    """What would end a process is a verdict here."""

    def raising(self, error: type[BaseException]) -> type[ModelContractTestCase]:
        class Model:
            def __init__(self, *given: Any) -> None:
                self._acme = AcmeModel(*given)

            def stream(self, request: Request) -> Any:
                for number, event in enumerate(self._acme.stream(request)):
                    if number == 1:
                        raise error
                    yield event

        return acme(new_model=lambda base_url, client: Model(base_url, client, "key"))

    def test_raised_in_next(self) -> None:
        for error in (SystemExit, KeyboardInterrupt, GeneratorExit):
            with self.subTest(error.__name__):
                text = text_of(run(self.raising(error), CLEAN))
                self.assertRegex(
                    text, rf"truncation/clean: .*made the adapter raise, .* {error.__name__}; "
                )
                self.assertIn("expected ModelError", text)

    def test_a_finish_that_is_no_finish(self) -> None:
        class Model:
            def __init__(self, *given: Any) -> None:
                self._acme = AcmeModel(*given)

            def stream(self, request: Request) -> Any:
                try:
                    yield from self._acme.stream(request)
                except BaseException:
                    yield Finish("stop")

        tests = acme(new_model=lambda base_url, client: Model(base_url, client, "key"))
        self.assertIn("Finish(reason='stop')", text_of(run(tests, CLEAN)))


class TestEgress(unittest.TestCase):
    """A connection to elsewhere is refused in every check, and told of at the class's end."""

    def phoning(self, **attributes: Any) -> type[ModelContractTestCase]:
        class Model:
            def __init__(self, *given: Any) -> None:
                self._acme = AcmeModel(*given)

            def stream(self, request: Request) -> Any:
                with contextlib.suppress(OSError):
                    socket.create_connection(("203.0.113.7", 443), timeout=1).close()
                return self._acme.stream(request)

        return acme(new_model=lambda base_url, client: Model(base_url, client, "key"), **attributes)

    def test_it_is_reported_once_for_the_class(self) -> None:
        result = run(self.phoning(), CLEAN, EMPTY)
        self.assertEqual(result.failures, [])
        ((where, text),) = result.errors
        self.assertIn("tearDownClass", str(where))
        self.assertRegex(text, r"AssertionError: faults/egress: connections to elsewhere were att")
        self.assertEqual(text.count("203.0.113.7:443 at "), 1)
        self.assertRegex(text, r"\n  refused  look up 203\.0\.113\.7:443 at .*in stream.*\n  fix")

    def test_a_second_run_starts_anew(self) -> None:
        tests = self.phoning()
        run(tests, CLEAN)
        self.assertEqual(len(run(tests, CLEAN).errors), 1)
        self.assertEqual(run(tests, SET_UP).errors, [])

    def test_an_author_who_forgets_super_does_not_silence_it(self) -> None:
        tests = self.phoning(tearDownClass=classmethod(lambda cls: None))
        self.assertEqual(len(run(tests, CLEAN).errors), 1)

    def test_the_check_for_it_reports_itself(self) -> None:
        result = run(self.phoning(), "test_only_the_provider_is_contacted")
        self.assertIn("faults/egress: ", text_of(result))

    def test_not_where_it_is_expected_or_skipped(self) -> None:
        for attribute in ("expected_failures", "skips"):
            with self.subTest(attribute):
                tests = self.phoning(**{attribute: {"faults/egress": "telemetry"}})
                result = run(tests, CLEAN, "test_only_the_provider_is_contacted")
                self.assertTrue(result.wasSuccessful(), result.errors)


if __name__ == "__main__":
    unittest.main()
