"""What the author's process does to the kit, and the kit must not take for its own fault."""

import os
import subprocess
import sys
import unittest
from typing import Any
from unittest import mock

from modeltest import Finish, SSEReaderTestCase, TextDelta
from modeltest.demo.acme import AcmeModel
from modeltest.threads import replaced_threads
from modeltest.wire import OpenAIChat
from tests.testcase.running import ROOT, SET_UP, acme, python, run, text_of


class TestSettings(unittest.TestCase):
    """Values that Python takes for others."""

    def assert_refused(self, expected: str, **attributes: Any) -> None:
        self.assertRegex(text_of(run(acme(**attributes), SET_UP)), expected)

    def test_truth_is_no_number_and_a_text_no_truth(self) -> None:
        self.assert_refused(r"strict: expected True or False, got 'no'", strict="no")
        self.assert_refused(
            r"idle_timeout: expected seconds above 0.*, got True", idle_timeout=True
        )
        self.assert_refused(r"retries: expected a number, 0 or more, got True", retries=True)

    def test_the_same_of_readers(self) -> None:
        for name, value in (("strict", "no"), ("deadline", True)):
            attributes = {"wire": OpenAIChat(), "stream_sse": lambda self, body: (), name: value}
            tests = type("TestReader", (SSEReaderTestCase,), attributes)
            self.assertRegex(text_of(run(tests, "test_reader_is_set_up")), rf"{name}: expected ")

    def test_half_a_character(self) -> None:
        self.assert_refused(
            r"event\(0\) gave 'data: .*\\ud83d.*', which UTF-8 cannot spell",
            event=staticmethod(lambda i: 'data: {"text": "\ud83d"}\n\n'),
        )


class Changing(AcmeModel):
    """Goes on using the events that it gave."""

    def stream(self, request: Any) -> Any:
        for given in super().stream(request):
            yield given
            if isinstance(given, TextDelta):
                object.__setattr__(given, "text", None)


class TestEvents(unittest.TestCase):
    def test_events_that_are_changed_later(self) -> None:
        def changing(base_url: str, client: Any) -> Changing:
            return Changing(base_url, client, "key")

        result = run(acme(new_model=staticmethod(changing)))
        self.assertEqual((result.errors, result.failures), ([], []))

    def test_of_a_reader(self) -> None:
        class TestReader(SSEReaderTestCase):
            bodies = b"data: x\n\n"

            def stream_sse(self, body: Any) -> Any:
                delta = TextDelta(body.read().decode("utf-8", "replace"))
                yield delta
                object.__setattr__(delta, "text", None)
                yield Finish("stop", "stop")

        result = run(TestReader)
        self.assertEqual(result.errors, [])
        self.assertIn("changed an event after it yielded it", result.failures[0][1])


HOOK = """
import sys
on = []
def hook(event, args):
    if on and event == "socket.bind":
        raise RuntimeError("against the policy")
sys.addaudithook(hook)
from tests.testcase.running import *
on.append(1)
print(*run(acme(), SET_UP, "test_break_releases").failures[0])
"""
FEW = """
import resource
from tests.testcase.running import *
resource.setrlimit(resource.RLIMIT_NOFILE, (20, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
print(*run(acme(), SET_UP, "test_break_releases").failures[0])
"""


class TestProcess(unittest.TestCase):
    def test_an_audit_hook_that_raises(self) -> None:
        out = python("-c", HOOK).stdout
        self.assertRegex(out, r"against the policy was raised by .* in hook, .*an audit hook")
        self.assertNotIn("modeltest failed here", out)

    @unittest.skipIf(sys.platform == "win32", "it has no such limit")
    def test_few_file_descriptors(self) -> None:
        out = python("-c", FEW).stdout
        self.assertRegex(out, r"the process can open \d+ more files .* raise the limit")

    def test_green_threads(self) -> None:
        self.assertEqual(replaced_threads(), "")
        eventlet = mock.Mock(is_monkey_patched=lambda module: module == "thread")
        with mock.patch.dict(sys.modules, {"eventlet.patcher": eventlet}):
            self.assertRegex(text_of(run(acme(), SET_UP)), "eventlet has replaced Python's threads")
        with mock.patch("_thread.start_new_thread", lambda *args: None):
            self.assertRegex(replaced_threads(), "something has replaced .* patch first")


class TestOptimised(unittest.TestCase):
    """`python -OO` takes docstrings and asserts away."""

    def test_it_lists_and_runs(self) -> None:
        plain, optimised = (
            python("-m", "modeltest", "checks"),
            python("-OO", "-m", "modeltest", "checks"),
        )
        self.assertEqual(optimised.returncode, 0, optimised.stdout)
        self.assertEqual(optimised.stdout, plain.stdout)
        demo = python("-OO", "-m", "modeltest", "demo")
        self.assertEqual(demo.returncode, 0, demo.stdout)
        self.assertIn("As announced", demo.stdout)


class TestPipe(unittest.TestCase):
    def test_whoever_reads_has_enough(self) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            done = subprocess.run(
                [sys.executable, "-m", "modeltest", "checks"],
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.PIPE,
                check=False,
            )
        self.assertEqual((done.returncode, done.stderr), (1, b""))


ENDING = """
import os, unittest
from os import _exit
import posix
from tests.testcase.running import *

class Ending(AcmeModel):
    def stream(self, request):
        {}
        yield from super().stream(request)

TestAcme = acme(new_model=lambda self, base_url, client: Ending(base_url, client, "key"))
unittest.main(argv=["x", "TestAcme.{}"])
"""


@unittest.skipUnless(os.name == "posix", "of POSIX")
class TestEarlyEnd(unittest.TestCase):
    def test_a_run_that_an_adapter_ends_is_red(self) -> None:
        for way in (
            "_exit(0)",
            "os._exit(0)",
            "posix._exit(0)",
            "os.execv('/bin/true', ['true'])",
            "posix.execve('/bin/true', ['true'], {})",
            "os.execlp('true', 'true')",
        ):
            with self.subTest(way):
                done = python(
                    "-c", ENDING.replace("TestAcme.{}", f"TestAcme.{SET_UP}").replace("{}", way, 1)
                )
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertRegex(done.stdout, r"os\.(_exit|exec)\S* was called at .* in stream")

    def test_all_is_given_back(self) -> None:
        import posix

        before = os._exit, posix._exit
        run(acme(), SET_UP)
        self.assertEqual((os._exit, posix._exit), before)

    def test_children_may_become_another_program(self) -> None:
        done = python(
            "-c", ENDING.replace("TestAcme.{}", f"TestAcme.{SET_UP}").replace("{}", _CHILD, 1)
        )
        self.assertEqual(done.returncode, 0, done.stdout)


_CHILD = """child = os.fork()
        if not child:
            os.execv('/bin/true', ['true'])
        os.waitpid(child, 0)"""


if __name__ == "__main__":
    unittest.main()
