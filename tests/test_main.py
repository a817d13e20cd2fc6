"""`python -m modeltest`: the demo, and the list of checks."""

import contextlib
import io
import re
import runpy
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import requests

from modeltest import (
    Event,
    Finish,
    ModelContractTestCase,
    Request,
    StreamProtocolError,
    TextDelta,
    __version__,
    demo,
    user,
)
from modeltest.__main__ import main
from modeltest.backend import Backend, End, Response, events
from modeltest.checks import ALL
from modeltest.demo import cases
from modeltest.demo.acme import AcmeModel
from modeltest.demo.naive import NaiveModel
from modeltest.harness import Level, Need

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit status of a command and what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(arguments)
    return status, out.getvalue()


class Broken(ModelContractTestCase, abstract=True):
    """Every check is an error, as if the kit were at fault."""

    def setUp(self) -> None:
        raise RuntimeError("the kit is broken")


class TestDemo(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.status, cls.out = run("demo")

    def test_it_goes_as_announced(self) -> None:
        self.assertEqual(self.status, 0)
        self.assertRegex(self.out, r"As announced: the careful adapter passes, the naive one fails")

    def test_it_says_what_is_shown_and_shows_the_test_case_that_is_run(self) -> None:
        careful, naive = self.out.split("\n2. ")
        self.assertIn("modeltest/demo/acme.py", careful)
        self.assertIn("    class TestAcme(ModelContractTestCase):\n", careful)
        self.assertIn("        return AcmeModel(base_url, client, self.api_key)\n", careful)
        self.assertIn("modeltest/demo/naive.py", naive)

    def test_the_careful_adapter_passes(self) -> None:
        careful, _ = self.out.split("\n2. ")
        tests = len(ALL) + 1
        self.assertRegex(
            careful, rf"   {tests} tests in \d+\.\d s: 0 failed, 0 warned, \d+ skipped"
        )
        self.assertNotIn("FAIL", careful)

    def test_the_naive_one_fails_and_says_how_to_fix_it(self) -> None:
        _, naive = self.out.split("\n2. ")
        counted = re.search(r"(\d+) failed, (\d+) warned", naive)
        assert counted is not None
        failed, warned = map(int, counted.groups())
        self.assertGreater(failed, 5)
        self.assertEqual(len(re.findall(r"^FAIL: test_\w+ — .*\.$", naive, re.MULTILINE)), failed)
        groups = re.findall(r"^FAIL: test_\w+ — .*\.\n(\w+)/", naive, re.MULTILINE)
        self.assertEqual(len(groups), len(set(groups)))
        self.assertEqual(naive.count("\n  fix      "), len(groups))
        _, short = naive.split("\nThese checks are advice (SHOULD)")
        self.assertEqual(len(re.findall(r"^\w+/[\w-]+: ", short, re.MULTILINE)), warned)
        self.assertRegex(
            naive, r"FAIL: test_truncated_is_an_error — A body .*\ntruncation/clean: a"
        )
        self.assertNotIn("Traceback", naive)

    def test_no_line_of_its_own_is_long(self) -> None:
        for line in self.out.split("\nFAIL")[0].splitlines():
            self.assertLessEqual(len(line), 100, line)


class TestAdapters(unittest.TestCase):
    """Both make the same of an answer that is as it should be, the careful one also of others."""

    def read(self, model: type[AcmeModel | NaiveModel], *data: bytes) -> list[Event]:
        answer = Response((*events(b"data: " + each + b"\n\n" for each in data), End()))
        request = Request(messages=(user("hi"),))
        with Backend(answer) as backend, requests.Session() as session:
            return list(model(backend.url, session, "key").stream(request))

    def test_a_whole_answer(self) -> None:
        for model in (AcmeModel, NaiveModel):
            with self.subTest(model.__name__):
                first, second, last = self.read(
                    model, b'{"text": "a"}', b'{"text": "b"}', b'{"done": "stop"}'
                )
                self.assertEqual([first, second], [TextDelta("a"), TextDelta("b")])
                self.assertIsInstance(last, Finish)

    def test_an_event_that_is_no_json(self) -> None:
        with self.assertRaises(StreamProtocolError):
            self.read(AcmeModel, b'{"text": "a"}', b'{"text": ')


class TestDemoThatGoesWrong(unittest.TestCase):
    def demo(self, careful: type, naive: type) -> str:
        out = io.StringIO()
        with mock.patch.multiple(cases, TestAcme=careful, TestNaive=naive):
            self.assertFalse(demo.run(out))
        self.assertRegex(out.getvalue(), r"\nThis is not as announced: .*report it\.\n\Z")
        return out.getvalue()

    def few(self, tests: type[unittest.TestCase]) -> type:
        """Return a test case with one test, as a whole run takes seconds."""

        class Few(tests):  # type: ignore[misc, valid-type]
            pass

        for check in ALL:
            if check.id != "truncation/clean":
                setattr(Few, check.method, None)
        return Few

    def test_a_careful_adapter_that_fails(self) -> None:
        self.demo(self.few(cases.TestNaive), self.few(cases.TestNaive))

    def test_a_naive_adapter_that_passes(self) -> None:
        self.demo(self.few(cases.TestAcme), self.few(cases.TestAcme))

    def test_an_error(self) -> None:
        out = self.demo(self.few(cases.TestAcme), self.few(Broken))
        self.assertRegex(out, r"\nERROR: test_truncated_is_an_error — .*\nTraceback")
        self.assertIn("RuntimeError: the kit is broken", out)

    def test_the_exit_status_tells(self) -> None:
        with mock.patch.object(demo, "run", return_value=False):
            self.assertEqual(run("demo"), (1, ""))


class TestChecks(unittest.TestCase):
    def test_every_check_is_on_a_line_with_id_level_and_requirement(self) -> None:
        status, out = run("checks")
        self.assertEqual(status, 0)
        lines = [line for line in out.splitlines() if line.startswith("  ")]
        self.assertEqual([line.split()[0] for line in lines], [check.id for check in ALL])
        for check, line in zip(ALL, lines, strict=True):
            with self.subTest(check.method):
                needs = f" (needs {', '.join(check.needs)})" if check.needs else ""
                self.assertRegex(
                    line,
                    rf"\A  {check.id} +{check.level} +{re.escape(check.requirement + needs)}\Z",
                )

    def test_methods_on_demand(self) -> None:
        _, out = run("checks", "--methods")
        named = [line.strip() for line in out.splitlines() if line.strip().startswith("test_")]
        self.assertEqual(named, [check.method for check in ALL])

    def test_columns_are_straight(self) -> None:
        _, out = run("checks")
        levels = {
            re.search(r" (MUST|SHOULD) ", line) for line in out.splitlines() if "/" in line[:20]
        }
        self.assertEqual(len({found.start() for found in levels if found}), 1)

    def test_every_group_has_a_heading(self) -> None:
        _, out = run("checks")
        headings = [line for line in out.splitlines() if line and not line.startswith(" ")]
        groups = list(dict.fromkeys(check.group for check in ALL))
        self.assertEqual([heading.partition(":")[0] for heading in headings], groups)

    def test_what_a_check_needs_is_said(self) -> None:
        needing = replace(ALL[0], needs=(Need.WIRE, Need.RETRIES), level=Level.SHOULD)
        with mock.patch("modeltest.__main__.ALL", (needing,)):
            _, out = run("checks")
        self.assertRegex(out, r"  SHOULD  .*\. \(needs wire, retries\)\n\Z")


class TestCommandLine(unittest.TestCase):
    def test_without_a_command_it_says_which_there_are(self) -> None:
        error = io.StringIO()
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit) as caught:
            main([])
        self.assertEqual(caught.exception.code, 2)
        self.assertIn("python -m modeltest", error.getvalue())

    def test_help_and_version(self) -> None:
        for option, expected in (("--help", "demo "), ("--version", __version__)):
            out = io.StringIO()
            with (
                self.subTest(option),
                contextlib.redirect_stdout(out),
                self.assertRaises(SystemExit) as caught,
            ):
                main([option])
            self.assertEqual(caught.exception.code, 0)
            self.assertIn(expected, out.getvalue())

    def test_a_terminal_that_knows_no_such_characters(self) -> None:
        data = io.BytesIO()
        with (
            mock.patch.object(sys, "stdout", io.TextIOWrapper(data, "ascii")),
            mock.patch.object(demo, "run", lambda out: bool(out.write("— …"))),
        ):
            self.assertEqual(main(["demo"]), 0)
            sys.stdout.flush()
            self.assertEqual(data.getvalue(), b"? ?")

    def test_as_a_module(self) -> None:
        out = io.StringIO()
        with (
            mock.patch.object(sys, "argv", ["modeltest", "checks"]),
            contextlib.redirect_stdout(out),
            self.assertRaises(SystemExit) as caught,
        ):
            runpy.run_path(str(ROOT / "modeltest/__main__.py"), run_name="__main__")
        self.assertEqual(caught.exception.code, 0)
        self.assertIn("release/break", out.getvalue())

    def test_as_a_process(self) -> None:
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-m", "modeltest", "demo"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("As announced", done.stdout)


if __name__ == "__main__":
    unittest.main()
