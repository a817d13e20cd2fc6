"""One check, from its cases to its outcome."""

import gc
import os
import socket
import threading
import unittest
from typing import Any
from unittest import mock

from modeltest import Event, ModelError, Request
from modeltest.backend import BackendError, End, Response, events
from modeltest.delivery import ServedContext, run
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Evidence, Failure, Level, Need, Outcome, SetUpError, Skip, Status
from modeltest.threads import Hang

from .targets import check, event, target

ANSWER = Response((*events([event(0), event(1)]), End()))


class Exploding:
    """A step that raises, as a fault of the kit does."""

    def run(self, writer: Any) -> None:
        raise ValueError("no such step")

    def __repr__(self) -> str:
        return "Exploding()"


def passes(context: ServedContext) -> None:
    with context.case("", ANSWER) as case:
        case.read()


class TestStatus(unittest.TestCase):
    def test_passed(self) -> None:
        outcome = run(check(passes), target())
        self.assertEqual((outcome.status, outcome.text, outcome.attempts), ("passed", "", ()))

    def test_failed(self) -> None:
        def fails(context: ServedContext) -> None:
            with context.case("", ANSWER) as case:
                case.read()
                raise Failure("it broke.", (Evidence("seen", "this"),))

        outcome = run(check(fails), target())
        self.assertEqual(outcome.status, Status.FAILED)
        self.assertRegex(
            outcome.text,
            r"\Agroup/name: it broke\.\n"
            r"  seen     this\n"
            r"  server   sent 2 events \(54 B\).*\n"
            r"  client   1 connection .*: opened at .*acme\.py:\d+ in stream\n"
            r"  fix      mend it\Z",
        )

    def test_every_case_is_tried_and_reported(self) -> None:
        def fails(context: ServedContext) -> None:
            for name in ("first", "second", "third"):
                with context.case(name, ANSWER):
                    if name != "second":
                        raise Failure(f"the {name} broke.")

        text = run(check(fails), target()).text
        self.assertRegex(
            text, r"\Agroup/name: 2 of 3 cases fail\.\n- first: the first broke\.\n  s"
        )
        self.assertRegex(text, r"\n- third: the third broke\.\n  server .*\n  fix      mend it\Z")
        self.assertNotIn("second", text)

    def test_one_case_of_several(self) -> None:
        def fails(context: ServedContext) -> None:
            with context.case("first", ANSWER):
                raise Failure("it broke.")
            with context.case("second", ANSWER):
                pass

        self.assertRegex(run(check(fails), target()).text, r"\Agroup/name: first: it broke\.\n")

    def test_a_failure_outside_of_a_case(self) -> None:
        def fails(context: ServedContext) -> None:
            raise Failure("it broke.")

        text = run(check(fails), target()).text
        self.assertEqual(text, "group/name: it broke.\n  fix      mend it")


class TestLevels(unittest.TestCase):
    def failing(self, *levels: Level | None) -> Any:
        def fails(context: ServedContext) -> None:
            for number, level in enumerate(levels):
                with context.case(f"case {number}", ANSWER, level=level):
                    raise Failure("it broke.")

        return fails

    def test_a_should_check_warns(self) -> None:
        outcome = run(check(self.failing(None), Level.SHOULD), target())
        self.assertEqual(outcome.status, Status.WARNED)
        self.assertRegex(outcome.text, r"\Agroup/name: case 0: it broke\.\n")

    def test_a_should_case_of_a_must_check_warns_and_is_marked(self) -> None:
        outcome = run(check(self.failing(Level.SHOULD)), target())
        self.assertEqual(outcome.status, Status.WARNED)
        self.assertRegex(outcome.text, r"\Agroup/name: case 0 \[SHOULD\]: it broke\.\n")

    def test_a_must_case_beside_it_fails(self) -> None:
        outcome = run(check(self.failing(Level.SHOULD, None)), target())
        self.assertEqual(outcome.status, Status.FAILED)
        self.assertRegex(outcome.text, r"2 of 2 .*\n- case 0 \[SHOULD\]: it(.*\n)*- case 1: it")

    def test_a_case_without_a_name_is_the_only_one(self) -> None:
        def fails(context: ServedContext) -> None:
            with context.case("", ANSWER, level=Level.SHOULD):
                raise Failure("it broke.")

        outcome = run(check(fails), target())
        self.assertIs(outcome.status, Status.WARNED)
        self.assertRegex(outcome.text, r"\Agroup/name: it broke\.")


class TestSkips(unittest.TestCase):
    def test_what_it_needs(self) -> None:
        def never(context: ServedContext) -> None:
            raise AssertionError

        needing = check(never, needs=(Need.WIRE, Need.RETRIES))
        self.assertEqual(
            run(needing, target()),
            Outcome(
                needing, Status.SKIPPED, "needs `wire` and `retries`: set them on the test case"
            ),
        )
        one = run(check(never, needs=(Need.WIRE,)), target())
        self.assertEqual(one.text, "needs `wire`: set it on the test case")
        needing = check(passes, needs=(Need.RETRIES,))
        self.assertEqual(run(needing, target(retries=1)).status, Status.PASSED)

    def test_the_whole_check(self) -> None:
        def skips(context: ServedContext) -> None:
            raise Skip("not for this adapter")

        outcome = run(check(skips), target())
        self.assertEqual((outcome.status, outcome.text), ("skipped", "not for this adapter"))

    def test_every_case(self) -> None:
        def skips(context: ServedContext) -> None:
            for name in ("first", "second"):
                with context.case(name, ANSWER):
                    raise Skip("no gzip")
            with context.case("third", ANSWER):
                raise Skip("no token")

        outcome = run(check(skips), target())
        self.assertEqual(outcome.status, Status.SKIPPED)
        self.assertEqual(outcome.text, "no gzip (first, second); no token (third)")

    def test_some_cases(self) -> None:
        def skips(context: ServedContext) -> None:
            with context.case("first", ANSWER):
                raise Skip("no gzip")
            passes(context)

        outcome = run(check(skips), target())
        self.assertEqual((outcome.status, outcome.text), ("passed", "no gzip (first)"))

    def test_some_cases_beside_one_that_fails(self) -> None:
        def skips(context: ServedContext) -> None:
            with context.case("first", ANSWER):
                raise Skip("no gzip")
            for name in ("second", "third"):
                with context.case(name, ANSWER):
                    raise Failure("it broke.")

        outcome = run(check(skips), target())
        self.assertRegex(outcome.text, r"\Agroup/name: 2 of 2 cases fail\.")

    def test_no_case_at_all(self) -> None:
        outcome = run(check(lambda context: None), target())
        self.assertEqual(outcome.status, Status.SKIPPED)


class TestHangs(unittest.TestCase):
    def hanging(self) -> Any:
        blocked = threading.Event()
        self.addCleanup(blocked.set)

        class Hanging(AcmeModel):
            def stream(self, request: Request) -> Any:
                blocked.wait()

        return lambda base_url, client: Hanging(base_url, client, "key")

    def test_no_further_case_is_tried(self) -> None:
        tried: list[str] = []

        def reads(context: ServedContext) -> None:
            for name in ("first", "second"):
                with context.case(name, ANSWER) as case:
                    tried.append(name)
                    case.read()

        outcome = run(check(reads), target(new_model=self.hanging(), deadline=0.5))
        self.assertEqual((outcome.status, tried), (Status.FAILED, ["first"]))
        self.assertRegex(
            outcome.text,
            r"\Agroup/name: first: stream\(\) did not return within 0\.5 s; the stack shows where "
            r"it waits\.\n  stack (.*\n)*.* in stream: blocked\.wait\(\)\n(.*\n)*"
            r"  server   received no request\n  fix      mend it\Z",
        )

    def test_a_should_case_that_hangs_warns(self) -> None:
        def reads(context: ServedContext) -> None:
            with context.case("first", ANSWER, level=Level.SHOULD) as case:
                case.read()

        outcome = run(check(reads), target(new_model=self.hanging(), deadline=0.5))
        self.assertEqual(outcome.status, Status.WARNED)

    def test_a_stack_of_a_thread_that_ended_meanwhile(self) -> None:

        def hangs(context: ServedContext) -> None:
            with context.case("", ANSWER):
                raise Hang("next()", 0.1, [])

        self.assertIn("  stack    (the thread has ended)\n", run(check(hangs), target()).text)

    def test_new_model_hangs(self) -> None:
        blocked = threading.Event()
        self.addCleanup(blocked.set)
        hanging = target(new_model=lambda base_url, client: blocked.wait(), deadline=0.5)
        self.assertIn("group/name: new_model() did not return", run(check(passes), hanging).text)


class TestFaults(unittest.TestCase):
    """What is nobody's verdict on the adapter comes out as what it is."""

    def test_a_script_that_raises_names_the_step(self) -> None:
        def reads(context: ServedContext) -> None:
            with context.case("", Response((Exploding(),))) as case:
                case.read()

        with self.assertRaisesRegex(BackendError, r"ValueError\('no such step'\) at step Explod"):
            run(check(reads), target())

    def test_it_goes_before_a_failure_a_skip_and_a_hang(self) -> None:

        for raised in (Failure("it broke."), Skip("no"), Hang("next()", 0.1, [])):

            def reads(context: ServedContext, raised: Exception = raised) -> None:
                with context.case("", Response((Exploding(),))) as case:
                    case.read()
                    raise raised

            with self.subTest(raised), self.assertRaises(BackendError):
                run(check(reads), target())

    def test_new_model_that_cannot_be_used(self) -> None:
        with self.assertRaises(SetUpError):
            run(check(passes), target(new_model=lambda base_url, client: None))

    def test_anything_else(self) -> None:
        def breaks(context: ServedContext) -> None:
            with context.case("", ANSWER):
                raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            run(check(breaks), target())


class TestGuards(unittest.TestCase):
    """While a check runs, adapter and author are kept apart; afterwards all is as it was."""

    def test_the_collector_is_off_and_then_as_before(self) -> None:
        self.addCleanup(gc.enable)
        seen: list[bool] = []

        def looks(context: ServedContext) -> None:
            seen.append(gc.isenabled())
            gc.enable()

        for before in (gc.enable, gc.disable):
            before()
            expected = gc.isenabled()
            run(check(looks), target())
            self.assertEqual(gc.isenabled(), expected)
        self.assertEqual(seen, [False, False])

    def test_also_when_the_check_fails_to_run(self) -> None:
        def breaks(context: ServedContext) -> None:
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            run(check(breaks), target())
        self.assertTrue(gc.isenabled())

    def test_the_environment_is_neutral(self) -> None:
        def looks(context: ServedContext) -> None:
            self.assertNotIn("HTTP_PROXY", os.environ)
            self.assertIsNone(socket.getdefaulttimeout())

        with mock.patch.dict(os.environ, HTTP_PROXY="http://192.0.2.1:9"):
            run(check(looks), target())
            self.assertEqual(os.environ["HTTP_PROXY"], "http://192.0.2.1:9")

    def test_threads_are_daemons(self) -> None:
        def looks(context: ServedContext) -> None:
            thread = threading.Thread(target=int, daemon=False)
            thread.start()
            thread.join()
            self.assertTrue(thread.daemon)

        run(check(looks), target())

    def test_nothing_else_is_contacted(self) -> None:
        def fails(context: ServedContext) -> None:
            with context.case("", ANSWER):
                for _ in range(2):
                    with self.assertRaises(OSError):
                        socket.create_connection(("192.0.2.1", 80), timeout=1)
                raise Failure("it broke.")

        outcome = run(check(fails), target())
        self.assertEqual({attempt.address for attempt in outcome.attempts}, {("192.0.2.1", 80)})
        self.assertEqual(len(outcome.attempts), 2)
        self.assertRegex(
            outcome.text,
            r"\n  refused  .* 192\.0\.2\.1:80 at .*test_run\.py.*\n  fix      mend it\Z",
        )

    def test_attempts_are_told_of_where_the_check_holds(self) -> None:
        def phones(context: ServedContext) -> None:
            with context.case("", ANSWER), self.assertRaises(OSError):
                socket.create_connection(("192.0.2.1", 80), timeout=1)

        outcome = run(check(phones), target())
        self.assertEqual((outcome.status, len(outcome.attempts)), (Status.PASSED, 1))

    def test_a_check_that_shows_them_itself(self) -> None:
        def shows(context: ServedContext) -> None:
            with context.case("", ANSWER):
                with self.assertRaises(OSError):
                    socket.create_connection(("192.0.2.1", 80), timeout=1)
                raise Failure("it broke.", (Evidence("refused", "as it likes"),))

        text = run(check(shows), target()).text
        self.assertEqual(text.count("  refused  "), 1)


class TestCases(unittest.TestCase):
    """Each case begins anew, and ends with nothing left."""

    def test_backend_client_and_model_are_fresh(self) -> None:
        models: list[Any] = []
        urls: list[str] = []

        def looks(context: ServedContext) -> None:
            for name in ("first", "second"):
                with context.case(name, ANSWER) as case:
                    models.append((case.model, case.ledger, case.backend))
                    urls.append(case.backend.url)
                    case.read()
                    self.assertEqual(len(case.backend.exchanges), 1)
                    self.assertEqual(len(case.ledger.connections), 1)

        self.assertEqual(run(check(looks), target()).status, Status.PASSED)
        first, second = models
        self.assertTrue(all(a is not b for a, b in zip(first, second, strict=True)))

    def test_the_backend_is_gone_afterwards(self) -> None:
        addresses: list[tuple[str, int]] = []

        def looks(context: ServedContext) -> None:
            with context.case("", ANSWER) as case:
                addresses.append(case.backend.address)
                raise Failure("it broke.")

        run(check(looks), target())
        with self.assertRaises(OSError):
            socket.create_connection(addresses[0], timeout=1).close()

    def test_apart_a_failure_has_evidence_too(self) -> None:
        def reads(context: ServedContext) -> None:
            with context.apart(ANSWER) as case:
                case.set_up()
                case.read()
                raise Failure("it broke.")

        self.assertRegex(run(check(reads), target()).text, r"it broke\.\n  server   sent 2 events")

    def test_a_failure_that_is_kept_keeps_nothing_of_the_adapter(self) -> None:
        import weakref

        events_of: list[weakref.ref[Any]] = []

        class Model(AcmeModel):
            def stream(self, request: Request) -> Any:
                stream = Stream(super().stream(request))
                events_of.append(weakref.ref(stream))
                return stream

        class Stream:
            def __init__(self, events: Any) -> None:
                self.events = events

            def __iter__(self) -> Any:
                return self

            def __next__(self) -> Event:
                return next(self.events)

            def close(self) -> None:
                self.events.close()

        alive: list[bool] = []

        def reads(context: ServedContext) -> None:
            with context.case("first", ANSWER) as case:
                stream = case.started()
                raise Failure("it broke.")
            del stream
            alive.append(events_of[0]() is not None)

        model = target(new_model=lambda base_url, client: Model(base_url, client, "key"))
        run(check(reads), model)
        self.assertEqual(alive, [False])

    def test_the_subject_s_event(self) -> None:
        seen: list[bytes] = []
        run(check(lambda context: seen.append(context.event(3))), target())
        self.assertEqual(seen, [event(3)])

    def test_what_the_adapter_raises_is_a_matter_of_the_check(self) -> None:
        def reads(context: ServedContext) -> None:
            with context.case("", ANSWER) as case:
                self.assertIsInstance(case.read().error, ModelError)

        self.assertEqual(run(check(reads), target()).status, Status.PASSED)


if __name__ == "__main__":
    unittest.main()
