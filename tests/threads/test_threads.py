import concurrent.futures
import ctypes
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from unittest import mock

from modeltest.threads import unwinding
from modeltest.threads.kit import KitThread
from modeltest.threads.others import is_kit_thread, other_threads, threads_as_daemons
from modeltest.threads.unwinding import unwind
from tests.consumer.models import PATIENCE


class TestWhoseThreads(unittest.TestCase):
    def test_the_kits_are_told_by_their_type(self):
        gate = threading.Event()
        ours = KitThread(gate.wait, name="anything")
        theirs = threading.Thread(target=gate.wait, name="modeltest backend")
        for thread in ours, theirs:
            thread.start()
        self.assertTrue(ours.daemon)
        self.assertEqual([is_kit_thread(ours), is_kit_thread(theirs)], [True, False])
        self.assertIn(theirs, other_threads())
        self.assertNotIn(ours, other_threads())
        gate.set()
        for thread in ours, theirs:
            thread.join()

    def test_a_kit_thread_hands_its_arguments_over(self):
        got = []
        thread = KitThread(lambda *args: got.append(args), 1, 2, name="x")
        thread.start()
        thread.join()
        self.assertEqual(got, [(1, 2)])


class TestUnwind(unittest.TestCase):
    def setUp(self):
        self.over = threading.Event()
        self.addCleanup(self.over.set)

    def spin(self):
        while not self.over.is_set():
            pass

    def start(self, target):
        thread = KitThread(target, name="hangs")
        thread.start()
        return thread

    @mock.patch.object(sys, "gettrace", lambda: None)
    def test_a_thread_that_computes_ends(self):
        thread = self.start(self.spin)
        while thread.is_alive():
            # Again: on a busy machine it may not have had its turn while it was looked at.
            unwind(thread)
        self.assertFalse(self.over.is_set())

    @mock.patch.object(sys, "gettrace", lambda: None)
    def test_a_thread_that_is_blocked_is_left_alone(self):
        thread = self.start(self.over.wait)
        for _ in range(100):  # on a busy machine it takes a while until it is blocked
            with mock.patch.object(ctypes.pythonapi, "PyThreadState_SetAsyncExc") as raise_in:
                unwind(thread)
            if not raise_in.called:
                break
        raise_in.assert_not_called()
        self.over.set()
        thread.join()

    @mock.patch.object(sys, "gettrace", lambda: None)
    def test_a_thread_that_has_ended_or_never_began_is_left_alone(self):
        thread = self.start(list)
        thread.join()
        unwind(thread)
        unwind(KitThread(list, name="not started"))
        unwind()

    @mock.patch.object(sys, "gettrace", lambda: None)
    def test_a_thread_that_ends_while_it_is_looked_at_is_left_alone(self):
        thread = self.start(list)
        thread.join()
        with (
            mock.patch.object(unwinding, "computing", lambda looked_at: set(looked_at)),
            mock.patch.object(ctypes.pythonapi, "PyThreadState_SetAsyncExc") as raise_in,
        ):
            unwind(thread)
        raise_in.assert_not_called()

    def test_where_it_cannot_be_done_nothing_is(self):
        thread = self.start(self.spin)
        for missing in (
            mock.patch.object(sys, "gettrace", lambda: print),
            mock.patch.object(ctypes, "pythonapi", None),
            mock.patch.object(time, "pthread_getcpuclockid", None, create=True),
            mock.patch.object(time, "pthread_getcpuclockid", mock.Mock(side_effect=OSError)),
        ):
            with mock.patch.object(sys, "gettrace", lambda: None), missing:
                unwind(thread)
        self.assertTrue(thread.is_alive())
        self.over.set()
        thread.join()


class TestDaemons(unittest.TestCase):
    def test_threads_started_inside_are_daemons(self):
        def daemon():
            thread = threading.Thread(target=list)
            thread.start()
            thread.join()
            return thread.daemon

        with threads_as_daemons():
            with threads_as_daemons():
                self.assertTrue(daemon())
            self.assertTrue(daemon())
        self.assertFalse(daemon())

    def test_a_second_start_complains_as_ever(self):
        with threads_as_daemons():
            thread = threading.Thread(target=list)
            thread.start()
            thread.join()
            self.assertRaisesRegex(RuntimeError, "only be started once", thread.start)

    def test_blocks_of_several_threads_overlap(self):
        inside, leave = threading.Event(), threading.Event()

        def other():
            with threads_as_daemons():
                inside.set()
                leave.wait()

        with threads_as_daemons():
            thread = threading.Thread(target=other)
            thread.start()
            inside.wait()
        self.assertIsNot(threading.Thread.start, original_start)
        leave.set()
        thread.join()
        self.assertIs(threading.Thread.start, original_start)

    def test_an_executor_works_on_after_the_block(self):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with threads_as_daemons():
                self.assertEqual(pool.submit(abs, -1).result(PATIENCE), 1)
            self.assertEqual(pool.submit(abs, -2).result(PATIENCE), 2)

    def test_the_process_exits_whatever_hangs(self):
        program = textwrap.dedent(
            """
            import threading
            from concurrent.futures import ThreadPoolExecutor
            from modeltest.threads import threads_as_daemons

            with threads_as_daemons():
                threading.Thread(target=threading.Event().wait).start()
                ThreadPoolExecutor().submit(threading.Event().wait)
            print("done")
            """
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=False,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)


original_start = threading.Thread.start
