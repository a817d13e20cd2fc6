"""What reaches the interpreter instead of the consumer."""

import gc
import sys
import threading
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from modeltest import Request
from modeltest.checks import BY_NAME
from modeltest.delivery import run
from modeltest.delivery.leaks import Leaks, caught_leaks, collecting_often
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Status
from modeltest.threads import KitThread

from .targets import target


class Raising:
    """Its `__str__` raises."""

    def __str__(self) -> str:
        raise ValueError("no text")


class TestCaughtLeaks(unittest.TestCase):
    def test_a_generator_that_goes_on_when_it_is_closed(self) -> None:
        def stubborn() -> Any:
            try:
                yield 1
            except GeneratorExit:
                yield 2

        with caught_leaks() as leaks:
            generator = stubborn()
            next(generator)
            del generator
        (found,) = leaks.found
        self.assertRegex(
            found,
            r"\Aunraisable exception .*stubborn.*: RuntimeError: generator ignored GeneratorExit",
        )

    def test_a_finalizer_that_raises_and_where(self) -> None:
        class Stream:
            def __del__(self) -> None:
                raise ValueError("broken")

        with caught_leaks() as leaks:
            Stream()
        (found,) = leaks.found
        self.assertRegex(
            found, r"Stream\.__del__.*: ValueError: broken, raised at .*test_leaks\.py:\d+ in __de"
        )

    def test_a_thread_that_ends_with_an_exception(self) -> None:
        def run() -> None:
            raise LookupError("nobody waits")

        with caught_leaks() as leaks:
            thread = threading.Thread(target=run, name="pump")
            thread.start()
            thread.join()
        (found,) = leaks.found
        self.assertRegex(
            found,
            r"\Aexception that ended 'pump': LookupError: nobody waits, raised at .* in run\Z",
        )

    def test_threads_of_others_are_theirs(self) -> None:
        def run() -> None:
            begin.wait()
            raise LookupError("not the adapter's")

        begin = threading.Event()
        known = threading.Thread(target=run)
        known.start()
        own = KitThread(run, name="kit")
        with mock.patch("threading.excepthook") as hook, caught_leaks() as leaks:
            own.start()
            begin.set()
            for thread in (known, own):
                thread.join()
        self.assertEqual(leaks.found, [])
        self.assertEqual(hook.call_count, 2)

    def test_the_hooks_are_given_back(self) -> None:
        before = sys.unraisablehook, threading.excepthook
        with self.assertRaises(ValueError), caught_leaks():
            self.assertNotEqual((sys.unraisablehook, threading.excepthook), before)
            raise ValueError
        self.assertEqual((sys.unraisablehook, threading.excepthook), before)

    def test_blocks_that_overlap_give_them_back_in_any_order(self) -> None:
        before = sys.unraisablehook, threading.excepthook
        first, second = caught_leaks(), caught_leaks()
        first.__enter__()
        inside = sys.unraisablehook, threading.excepthook
        second.__enter__()
        first.__exit__(None, None, None)
        self.assertEqual((sys.unraisablehook, threading.excepthook), inside)
        second.__exit__(None, None, None)
        self.assertEqual((sys.unraisablehook, threading.excepthook), before)


class Left:
    """Part of a cycle: only the collector finalizes it."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        raise ResourceWarning("unclosed <socket>")  # as under `-W error::ResourceWarning`


class TestGarbageOfOthers(unittest.TestCase):
    """What somebody left in a cycle before the check began is not the adapter's."""

    CHECKS = "release/unread", "release/many"

    def setUp(self) -> None:
        gc.disable()  # or it would be collected just before
        self.addCleanup(gc.enable)

    def test_it_is_not_blamed_on_the_adapter(self) -> None:
        for name in self.CHECKS:
            with self.subTest(name):
                Left()
                outcome = run(BY_NAME[name], target())
                self.assertEqual((outcome.status, outcome.text), (Status.PASSED, ""))

    def test_the_adapters_own_is(self) -> None:
        class Leaving(AcmeModel):
            def stream(self, request: Request) -> Any:
                Left()
                return super().stream(request)

        leaving = target(new_model=lambda base_url, client: Leaving(base_url, client, "key"))
        for name in self.CHECKS:
            with self.subTest(name):
                outcome = run(BY_NAME[name], leaving)
                self.assertIn("ResourceWarning: unclosed <socket>", outcome.text)

    def test_the_collector_is_left_as_it_was(self) -> None:
        before = gc.get_threshold()
        with collecting_often():
            self.assertTrue(gc.isenabled())
            self.assertLess(gc.get_threshold(), before)
        self.assertEqual((gc.isenabled(), gc.get_threshold()), (False, before))


class TestTexts(unittest.TestCase):
    """What the interpreter may hand to its hooks, in shapes that are hard to bring about."""

    def args(self, **values: Any) -> Any:
        given = {
            "exc_type": ValueError,
            "exc_value": None,
            "exc_traceback": None,
            "err_msg": None,
            "object": None,
            "thread": None,
        }
        return SimpleNamespace(**{**given, **values})

    def test_an_exception_that_was_not_made_yet(self) -> None:
        leaks = Leaks()
        leaks.unraisable(self.args(exc_type=KeyError, object="x"))
        self.assertEqual(leaks.found, ["unraisable exception in 'x': KeyError"])

    def test_a_message_of_the_interpreter(self) -> None:
        leaks = Leaks()
        leaks.unraisable(self.args(exc_value=ValueError("a"), err_msg="while deallocating"))
        self.assertEqual(leaks.found, ["unraisable exception while deallocating: ValueError: a"])

    def test_a_thread_that_is_not_known(self) -> None:
        leaks = Leaks()
        leaks.ended_thread(self.args(exc_value=ValueError("a")))
        self.assertEqual(leaks.found, ["exception that ended 'a thread': ValueError: a"])

    def test_an_exception_without_a_text(self) -> None:
        leaks = Leaks()
        leaks.ended_thread(self.args(exc_value=ValueError(Raising())))
        self.assertRegex(leaks.found[0], "ValueError: <exception str.* failed>")


if __name__ == "__main__":
    unittest.main()
