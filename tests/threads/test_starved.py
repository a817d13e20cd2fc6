"""A process that is given no time is given more of it."""

import signal
import subprocess
import sys
import time
import unittest

from modeltest.threads import KitThread, Pending
from modeltest.threads.unwinding import waiting
from tests.testcase.running import PATIENCE, ROOT

CHILD = """
import time
from modeltest.harness import Check, Level
from modeltest.delivery import Target, run
from tests.checks.targets import check, target
from tests.checks.test_run import ANSWER
from modeltest.demo.acme import AcmeModel

class Slow(AcmeModel):
    def stream(self, request):
        print("begun", flush=True)
        for _ in range(50):
            time.sleep(0.02)
        return super().stream(request)

def reads(context):
    with context.case("", ANSWER) as scenario:
        scenario.read()

outcome = run(
    check(reads),
    target(new_model=lambda base_url, client: Slow(base_url, client, "key"), deadline=2.0),
)
print(outcome.status, outcome.text)
"""


@unittest.skipUnless(hasattr(signal, "SIGSTOP"), "needs a system that can stop a process")
class TestStarved(unittest.TestCase):
    def test_a_process_that_stands_still_misses_no_deadline(self) -> None:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with child:
            self.addCleanup(child.kill)
            assert child.stdout is not None
            self.assertEqual(child.stdout.readline(), "begun\n")
            child.send_signal(signal.SIGSTOP)
            time.sleep(3)
            child.send_signal(signal.SIGCONT)
            out, _ = child.communicate(timeout=PATIENCE)
        self.assertEqual(out.split(), ["passed"])


class TestComputing(unittest.TestCase):
    def test_a_thread_that_computes_does_not_wait(self) -> None:
        over = Pending("over", list)
        blocked = KitThread(lambda: over.wait(PATIENCE), name="blocked")

        def compute() -> None:
            while not over.done:
                pass

        busy = KitThread(compute, name="busy")
        for thread in (blocked, busy):
            thread.start()
        told = waiting([blocked, busy])
        over.finish(None)
        if not hasattr(time, "pthread_getcpuclockid"):
            self.assertEqual(told, {blocked: None, busy: None})
            return
        self.assertEqual(told, {blocked: True, busy: False})
