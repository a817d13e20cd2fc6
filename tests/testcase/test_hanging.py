"""An adapter that hangs is told of, with its stack, and the process ends by itself."""

import concurrent.futures
import json
import re
import unittest

from . import hanging_contracts
from .running import python

BREAK = "test_break_releases"
CLOSE = "test_close_releases"
CLEAN = "test_truncated_is_an_error"

EXPECTED = {
    # test case: (what did not return, the line it waits at, tests that must tell of it)
    "TestInStream": (r"stream\(\)", r"in stream: FOR_EVER\.wait", {BREAK, CLOSE, CLEAN}),
    "TestInNext": (r"", r"in stream: FOR_EVER\.wait", {BREAK, CLOSE}),
    "TestInNextToo": (r"", r"in stream: FOR_EVER\.wait", {CLEAN}),
    "TestInNextStill": (r"", r"in stream: FOR_EVER\.wait", {"test_request_is_not_changed"}),
    "TestInClose": (r"close\(\)", r"in close: FOR_EVER\.wait", {CLOSE, CLEAN}),
    "TestInFinally": (r"", r"in stream: FOR_EVER\.wait", {BREAK, CLOSE, CLEAN}),
    "TestInNewModel": (r"new_model\(\)", r"in __init__: FOR_EVER\.wait", {BREAK, CLOSE, CLEAN}),
    "TestSleeping": (r"", r"in stream: time\.sleep", {BREAK, CLOSE, CLEAN}),
    "TestLooping": (r"", r"in stream: (while True|pass)", {BREAK, CLOSE, CLEAN}),
    "TestLoopingOn": (r"", r"in stream: (while|with|time)", {BREAK, CLOSE, CLEAN}),
    "TestOnTheLoop": (r"", r"in events: FOR_EVER\.wait", {"test_adapter_is_set_up"}),
}
LEAVING = "TestLeavingThread"


class TestHanging(unittest.TestCase):
    """Each test case runs in a process of its own, for what hangs stays there until its end."""

    @classmethod
    def setUpClass(cls) -> None:
        def run(name: str) -> tuple[int, str]:
            # `hanging_contracts` ends with status 7 once all its tests have come back.
            module = hanging_contracts.__name__
            done = python("-X", "dev", "-m", module, name, PYTHONWARNINGS="ignore")
            return done.returncode, done.stdout

        names = [*EXPECTED, LEAVING]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            cls.ran = dict(zip(names, pool.map(run, names), strict=True))

    def failed(self, name: str) -> dict[str, str]:
        """Return test → text of those that failed."""
        status, out = self.ran[name]
        self.assertEqual(status, 7, out)
        tests = [json.loads(line) for line in out.splitlines()]
        for _, texts, _ in tests:
            self.assertLessEqual(len(texts), 1, texts)
        return {test: texts[0] for test, texts, _ in tests if texts}

    def test_every_check_comes_back_with_the_stack(self) -> None:
        for name, (operation, line, tests) in EXPECTED.items():
            failed = self.failed(name)
            self.assertLessEqual(tests, set(failed), name)
            for test, text in failed.items():
                with self.subTest(name, test=test):
                    self.assertNotIn("Traceback", text)
                    self.assertRegex(
                        text,
                        rf"{operation} did not return within 0\.4 s; the stack shows where it "
                        rf"waits\.\n  stack (.*\n)*.*hanging_contracts\.py:\d+ {line}",
                    )

    def test_a_thread_that_is_no_daemon_does_not_keep_the_process(self) -> None:
        (text,) = self.failed(LEAVING).values()
        self.assertRegex(text, r"release/nothing-left: (.*\n)*.*\d+ threads more")
        waits = (
            r'  thread   "Thread-.*", started by the adapter, waits at .*in pump: FOR_EVER\.wait'
        )
        self.assertTrue(re.search(waits, text), text)


if __name__ == "__main__":
    unittest.main()
