"""What belongs to the process is given back, and who changed it is told."""

import contextlib
import os
import socket
import threading
import unittest
from unittest import mock

from modeltest.delivery import run
from modeltest.delivery.process_state import failure_of, process_state_kept
from modeltest.harness import Status
from modeltest.threads import KitThread

from .targets import check, target


def on_a_kit_thread(act) -> BaseException | None:
    """Call `act` where an adapter runs; return what it raised."""
    raised: list[BaseException] = []

    def work() -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)

    thread = KitThread(work, name="modeltest test")
    thread.start()
    thread.join()
    return raised[0] if raised else None


class TestCommons(unittest.TestCase):
    def test_nothing_is_said_of_what_stays(self) -> None:
        with process_state_kept() as deeds:
            socket.setdefaulttimeout(socket.getdefaulttimeout())
        self.assertEqual(deeds, [])

    def test_what_is_changed_is_given_back(self) -> None:
        before = socket.socket, socket.getdefaulttimeout(), os.getcwd()
        with process_state_kept() as deeds:
            socket.socket = mock.MagicMock()
            socket.setdefaulttimeout(0.5)
            os.chdir("/")
        self.assertEqual((socket.socket, socket.getdefaulttimeout(), os.getcwd()), before)
        self.assertEqual(len(deeds), 3)
        self.assertIn("socket.getdefaulttimeout() was changed to 0.5", deeds[1])
        text = str(failure_of(deeds))
        self.assertRegex(text, r"^socket\.socket was changed to <MagicMock id='\d+'>; it belongs ")
        self.assertEqual(text.count("\n"), 2)

    def test_what_equals_everything_is_a_change_too(self) -> None:
        with process_state_kept() as deeds:
            socket.socket = mock.ANY
        self.assertEqual(len(deeds), 1)

    def test_an_exit_ends_the_thread(self) -> None:
        with process_state_kept() as deeds:
            error = on_a_kit_thread(lambda: os._exit(3))
        self.assertIsInstance(error, SystemExit)
        (deed,) = deeds
        self.assertRegex(
            deed, r"^os\._exit\(3\) was called at .*test_process_state\.py:\d+ in <lambda>;"
        )

    def test_threads_of_the_test_runner_may_exit(self) -> None:
        ask, asked = threading.Event(), []

        def watchdog() -> None:
            ask.wait()
            with contextlib.suppress(SystemExit):
                os._exit(1)

        with mock.patch("os._exit", asked.append):
            thread = threading.Thread(target=watchdog)
            thread.start()
            with process_state_kept() as deeds:
                ask.set()
                thread.join()
        self.assertEqual(asked, [1])
        self.assertEqual(len(deeds), 1)  # where a real exit would not have returned

    def test_an_exit_that_is_replaced_is_put_back(self) -> None:
        before = os._exit
        with process_state_kept() as deeds:
            os._exit = len
        self.assertIs(os._exit, before)
        self.assertIn("os._exit was changed to <built-in function len>", deeds[0])

    def test_of_blocks_that_overlap_none_judges(self) -> None:
        before = socket.getdefaulttimeout()
        with process_state_kept() as outer, process_state_kept() as inner:
            socket.setdefaulttimeout(0.5)
        self.addCleanup(socket.setdefaulttimeout, before)
        self.assertEqual((outer, inner), ([], []))

    def test_nor_does_one_that_begins_when_only_some_of_them_are_over(self) -> None:
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        first, second, third = process_state_kept(), process_state_kept(), process_state_kept()
        for block in (first, second):
            block.__enter__()
        first.__exit__(None, None, None)
        deeds = third.__enter__()
        socket.setdefaulttimeout(0.5)  # the second's adapter may have done it
        third.__exit__(None, None, None)
        second.__exit__(None, None, None)
        self.assertEqual(deeds, [])
        with process_state_kept() as deeds:  # alone again
            socket.setdefaulttimeout(0.6)
        self.assertEqual(len(deeds), 1)

    def test_a_check_that_passes_fails_of_it(self) -> None:
        def change(context) -> None:
            with context.case(""):
                socket.setdefaulttimeout(0.5)

        outcome = run(check(change), target())
        self.assertIs(outcome.status, Status.FAILED)
        self.assertIn("the process: socket.getdefaulttimeout() was changed to 0.5", outcome.text)
        self.assertIn("let the adapter change, close and end only what it made", outcome.text)

    def test_what_the_kit_stumbles_over_is_no_fault_of_its_own(self) -> None:
        def change(context) -> None:
            socket.setdefaulttimeout(0.5)
            raise ZeroDivisionError

        self.assertIs(run(check(change), target()).status, Status.FAILED)


if __name__ == "__main__":
    unittest.main()
