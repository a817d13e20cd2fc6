"""Cancelling from another thread: every callback runs, once, however late it was added."""

import threading
import unittest
from collections.abc import Callable, Sequence
from unittest import mock

from modeltest import CancelToken

SECONDS = 10  # An upper limit for threads to meet; nothing waits this long unless it fails.


class TestCancelToken(unittest.TestCase):
    def test_it_is_active_until_cancelled(self) -> None:
        token = CancelToken()
        self.assertIs(token.cancelled, False)
        token.cancel()
        self.assertIs(token.cancelled, True)

    def test_repr_says_which(self) -> None:
        token = CancelToken()
        self.assertEqual(repr(token), "<CancelToken active>")
        token.cancel()
        self.assertEqual(repr(token), "<CancelToken cancelled>")

    def test_callbacks_run_in_order(self) -> None:
        token, calls = CancelToken(), []
        for name in "abc":
            token.add_callback(lambda name=name: calls.append(name))
        self.assertEqual(calls, [])
        token.cancel()
        self.assertEqual(calls, ["a", "b", "c"])

    def test_callbacks_see_the_token_cancelled(self) -> None:
        token, seen = CancelToken(), []
        token.add_callback(lambda: seen.append(token.cancelled))
        token.cancel()
        self.assertEqual(seen, [True])

    def test_callbacks_run_on_the_thread_that_cancels(self) -> None:
        token, seen = CancelToken(), []
        token.add_callback(lambda: seen.append(threading.current_thread()))
        thread = threading.Thread(target=token.cancel)
        thread.start()
        thread.join(SECONDS)
        self.assertEqual(seen, [thread])

    def test_a_second_cancel_does_nothing(self) -> None:
        token, callback = CancelToken(), mock.Mock()
        token.add_callback(callback)
        token.cancel()
        token.cancel()
        callback.assert_called_once_with()

    def test_a_callback_added_twice_runs_twice(self) -> None:
        token, callback = CancelToken(), mock.Mock()
        token.add_callback(callback)
        token.add_callback(callback)
        token.cancel()
        self.assertEqual(callback.call_count, 2)


class TestLateCallback(unittest.TestCase):
    def test_it_runs_at_once(self) -> None:
        token, callback = CancelToken(), mock.Mock()
        token.cancel()
        token.add_callback(callback)
        callback.assert_called_once_with()

    def test_it_is_not_kept_for_another_cancel(self) -> None:
        token, callback = CancelToken(), mock.Mock()
        token.cancel()
        token.add_callback(callback)
        token.cancel()
        callback.assert_called_once_with()

    def test_it_runs_on_the_thread_that_adds_it(self) -> None:
        token, seen = CancelToken(), []
        token.cancel()
        thread = threading.Thread(
            target=token.add_callback,
            args=(lambda: seen.append(threading.current_thread()),),
        )
        thread.start()
        thread.join(SECONDS)
        self.assertEqual(seen, [thread])

    def test_its_error_reaches_whoever_added_it(self) -> None:
        token = CancelToken()
        token.cancel()
        with self.assertRaises(ZeroDivisionError):
            token.add_callback(lambda: 1 / 0)

    def test_a_callback_may_add_one(self) -> None:
        token, inner = CancelToken(), mock.Mock()
        token.add_callback(lambda: token.add_callback(inner))
        cancel_within(self, token)
        inner.assert_called_once_with()

    def test_a_late_callback_may_use_the_token(self) -> None:
        token, inner = CancelToken(), mock.Mock()
        token.cancel()
        thread = threading.Thread(
            target=token.add_callback, args=(lambda: token.add_callback(inner),), daemon=True
        )
        thread.start()
        thread.join(SECONDS)
        inner.assert_called_once_with()


class TestFailingCallback(unittest.TestCase):
    def test_the_others_run_all_the_same(self) -> None:
        token, before, after = CancelToken(), mock.Mock(), mock.Mock()
        error = OSError("already closed")
        for callback in (before, mock.Mock(side_effect=error), after):
            token.add_callback(callback)
        with self.assertRaises(ExceptionGroup) as caught:
            token.cancel()
        self.assertEqual(caught.exception.message, "cancel callbacks failed")
        self.assertEqual(caught.exception.exceptions, (error,))
        before.assert_called_once_with()
        after.assert_called_once_with()
        self.assertTrue(token.cancelled)

    def test_every_error_is_reported_in_order(self) -> None:
        token, errors = CancelToken(), [OSError("a"), KeyError("b")]
        for error in errors:
            token.add_callback(mock.Mock(side_effect=error))
        with self.assertRaises(ExceptionGroup) as caught:
            token.cancel()
        self.assertEqual([*caught.exception.exceptions], errors)

    def test_a_second_cancel_does_not_fail_again(self) -> None:
        token = CancelToken()
        token.add_callback(mock.Mock(side_effect=OSError))
        with self.assertRaises(ExceptionGroup):
            token.cancel()
        token.cancel()

    def test_an_interrupt_is_not_collected(self) -> None:
        token = CancelToken()
        token.add_callback(mock.Mock(side_effect=KeyboardInterrupt))
        with self.assertRaises(KeyboardInterrupt):
            token.cancel()


class TestRemoveCallback(unittest.TestCase):
    def test_a_removed_callback_does_not_run(self) -> None:
        token, kept, removed = CancelToken(), mock.Mock(), mock.Mock()
        token.add_callback(kept)
        token.add_callback(removed)
        token.remove_callback(removed)
        token.cancel()
        kept.assert_called_once_with()
        removed.assert_not_called()

    def test_a_bound_method_is_found_again(self) -> None:
        # Each look-up of a bound method makes a new object; they compare equal.
        token, calls = CancelToken(), []
        token.add_callback(calls.clear)
        token.remove_callback(calls.clear)
        calls.append("kept")
        token.cancel()
        self.assertEqual(calls, ["kept"])

    def test_one_removal_forgets_one_addition(self) -> None:
        token, callback = CancelToken(), mock.Mock()
        token.add_callback(callback)
        token.add_callback(callback)
        token.remove_callback(callback)
        token.cancel()
        callback.assert_called_once_with()

    def test_an_unknown_callback_is_harmless(self) -> None:
        token, callback = CancelToken(), mock.Mock()
        token.remove_callback(callback)
        token.cancel()
        token.remove_callback(callback)
        callback.assert_not_called()

    def test_a_callback_may_remove_itself(self) -> None:
        token, calls = CancelToken(), []

        def callback() -> None:
            calls.append("ran")
            token.remove_callback(callback)

        token.add_callback(callback)
        cancel_within(self, token)
        self.assertEqual(calls, ["ran"])


class TestThreads(unittest.TestCase):
    def test_it_wakes_a_reader_that_waits(self) -> None:
        token, woken, waiting = CancelToken(), threading.Event(), threading.Event()
        outcome = []

        def read() -> None:
            token.add_callback(woken.set)
            waiting.set()
            outcome.append(woken.wait(SECONDS))

        reader = threading.Thread(target=read)
        reader.start()
        self.assertTrue(waiting.wait(SECONDS))
        token.cancel()
        reader.join(SECONDS)
        self.assertEqual(outcome, [True])

    def test_many_cancellers_run_a_callback_once(self) -> None:
        for _ in range(50):
            token, calls = CancelToken(), []
            token.add_callback(lambda calls=calls: calls.append("ran"))
            run_together([token.cancel] * 8)
            self.assertEqual(calls, ["ran"])

    def test_a_callback_added_while_cancelling_runs_once(self) -> None:
        for _ in range(50):
            token, calls = CancelToken(), []

            def add(token: CancelToken = token, calls: list[str] = calls) -> None:
                token.add_callback(lambda: calls.append("ran"))

            run_together([add, add, token.cancel, add, add])
            self.assertEqual(calls, ["ran"] * 4)


def cancel_within(case: unittest.TestCase, token: CancelToken) -> None:
    """Cancel on a thread of its own, so that a deadlock fails the test and does not hang it."""
    thread = threading.Thread(target=token.cancel, daemon=True)
    thread.start()
    thread.join(SECONDS)
    case.assertFalse(thread.is_alive(), "cancel() hangs")


def run_together(functions: Sequence[Callable[[], object]]) -> None:
    """Call each function on a thread of its own, all let go at once."""
    barrier = threading.Barrier(len(functions))

    def run(function: Callable[[], object]) -> None:
        barrier.wait(SECONDS)
        function()

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)


if __name__ == "__main__":
    unittest.main()
