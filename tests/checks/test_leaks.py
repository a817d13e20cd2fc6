"""What reaches the interpreter instead of the consumer."""

import sys
import threading
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from modeltest.delivery.leaks import Leaks, caught_leaks
from modeltest.threads import KitThread


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
