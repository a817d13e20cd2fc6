"""What unittest and pytest find and print, each in a process of its own."""

import importlib.util
import re
import tempfile
import textwrap
import unittest
from pathlib import Path

from modeltest.checks import ALL

from .running import python

CASE = """
    class TestAcme(ModelContractTestCase):
        def new_model(self, base_url, client):
            return AcmeModel(base_url, client, self.api_key)

        def event(self, i):
            return 'data: {"text": "word %d "}\\n\\n' % i
"""
BY_NAME = f"""
    from modeltest import AsyncModelContractTestCase, ModelContractTestCase
    from modeltest.demo.acme import AcmeModel
    from modeltest.testcases.adapter import *
{CASE}
"""
BY_MODULE = f"""
    import modeltest
    import modeltest.testcases.adapter
    from modeltest.demo.acme import AcmeModel
{CASE.replace("(Model", "(modeltest.Model")}
"""
OTHERS = """
        expected_failures = {"truncation/empty": "known"}
        skips = {"truncation/closed": "not now"}

    import socket

    import modeltest.testcases.adapter
    from modeltest.demo.naive import NaiveModel


    class TestNaive(TestAcme):
        skips = {}

        def new_model(self, base_url, client):
            return NaiveModel(base_url, client, self.api_key)


    class TestFault(TestNaive):
        def setUp(self):
            def run(check, target):
                raise RuntimeError("the kit's own")

            self.addCleanup(setattr, modeltest.testcases.adapter, "run", modeltest.testcases.adapter.run)
            modeltest.testcases.adapter.run = run


    class Phoning(AcmeModel):
        def stream(self, request):
            try:
                socket.create_connection(("203.0.113.7", 443), timeout=1)
            except OSError:
                pass
            return super().stream(request)


    class TestPhoning(TestAcme):
        def new_model(self, base_url, client):
            return Phoning(base_url, client, self.api_key)
"""
FAST = ("-k", "truncated or set_up or blocked or gzip")


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class FileTest(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def python(self, *arguments: str, **environment: str) -> str:
        done = python(*arguments, cwd=self.directory, **environment)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


class TestUnittest(FileTest):
    def test_importing_the_bases_adds_no_test(self) -> None:
        for name, text in {"by name": BY_NAME, "by module": BY_MODULE}.items():
            with self.subTest(name):
                self.write("test_acme.py", text)
                listing = self.python(
                    *("-X", "dev", "-W", "error", "-c"),
                    "import unittest, test_acme\n"
                    "suite = unittest.defaultTestLoader.loadTestsFromModule(test_acme)\n"
                    "print(suite.countTestCases())",
                )
                self.assertEqual(int(listing), len(ALL) + 1)

    def test_the_requirement_is_printed(self) -> None:
        self.write("test_acme.py", BY_NAME)
        out = self.python(
            *("-X", "dev", "-W", "error", "-m", "unittest", "-v"),
            *("-k", "truncated_is", "-k", "set_up", "-k", "gzip"),
        )
        self.assertRegex(
            out,
            r"test_truncated_is_an_error \(test_acme\.TestAcme\.test_truncated_is_an_error\)\n"
            r"A body that ends cleanly in mid-answer is an error\. \.\.\. ok\n",
        )
        self.assertRegex(out, r"A gzip body .* \[SHOULD\] \.\.\. skipped '.*gzip")

    def test_an_unexpected_success_fails_the_run(self) -> None:
        text = BY_NAME + '        expected_failures = {"truncation/clean": "known"}\n'
        self.write("test_acme.py", text)
        done = python("-m", "unittest", "-k", "truncated_is", cwd=self.directory)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("unexpected successes=1", done.stdout)

    def test_in_any_order_of_hashes(self) -> None:
        self.write("test_acme.py", BY_NAME)
        for seed in ("0", "4711"):
            with self.subTest(seed):
                out = self.python("-m", "unittest", "-k", "truncat", PYTHONHASHSEED=seed)
                self.assertRegex(out, r"Ran \d+ tests? in [\d.]+s\n\nOK \(skipped=1\)\n")


@unittest.skipUnless(has("pytest"), "pytest is not installed")
class TestPytest(FileTest):
    """Under whichever pytest this environment has; tox has one for each version."""

    def setUp(self) -> None:
        super().setUp()
        self.write("pytest.ini", "[pytest]\nfilterwarnings = error\n")

    def pytest(self, *arguments: str) -> str:
        # Without the plugins that happen to be installed: a process starts faster.
        return self.python(
            *("-X", "dev", "-m", "pytest", *arguments), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
        )

    def test_importing_the_bases_adds_no_test(self) -> None:
        self.write("test_by_name.py", BY_NAME)
        self.write("test_by_module.py", BY_MODULE)
        out = self.pytest("--collect-only", "-q")
        for name in ("by_name", "by_module"):
            with self.subTest(name):
                found = re.findall(rf"^test_{name}\.py::(\w+)::", out, re.MULTILINE)
                self.assertEqual(found, ["TestAcme"] * (len(ALL) + 1))

    def test_verdicts_are_pytest_s_own(self) -> None:
        self.write("test_acme.py", BY_NAME + OTHERS)
        done = python(
            *("-m", "pytest", "-rA", "-W", "default"),
            *("-k", "empty or closed or truncated_is or gzip"),
            cwd=self.directory,
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        )
        self.assertEqual(done.returncode, 1, done.stdout)
        for line in (
            r"FAILED test_acme\.py::TestAcme::test_empty_response_is_an_error",
            r"XFAIL test_acme\.py::TestNaive::test_empty_response_is_an_error",
            r"SKIPPED \[\d\] .*not now",
            r"SKIPPED \[\d\] .*gzip",
            r"FAILED test_acme\.py::TestNaive::test_truncated_is_an_error",
            r"PASSED test_acme\.py::TestNaive::test_cut_gzip_body_is_an_error",
            r"test_acme\.py:\d+: ContractWarning: truncation/gzip: ",
            r"E +AssertionError: truncation/clean: a body",
            r"E +fix +give a Finish only when",
            # A fault of the kit is no expected failure …
            r"(FAILED|ERROR) test_acme\.py::TestFault::test_empty_response_is_an_error",
            r"E +RuntimeError: the kit's own",
            # … and what was sent elsewhere fails the class.
            r"ERROR test_acme\.py::TestPhoning::",
            r"E +AssertionError: faults/egress: connections to elsewhere were attempted",
        ):
            with self.subTest(line):
                self.assertRegex(done.stdout, line)

    @unittest.skipUnless(has("pytest_randomly"), "pytest-randomly is not installed")
    def test_in_any_order(self) -> None:
        self.write("test_acme.py", BY_NAME)
        for seed in ("1", "2"):
            with self.subTest(seed):
                out = self.pytest(*FAST, "-p", "pytest_randomly", "--randomly-seed", seed)
                self.assertRegex(out, r"\d+ passed")

    @unittest.skipUnless(has("xdist"), "pytest-xdist is not installed")
    def test_over_several_processes(self) -> None:
        self.write("test_acme.py", BY_NAME)
        out = self.pytest(*FAST, "-p", "xdist", "--numprocesses=2")
        self.assertRegex(out, r"\d+ passed")


if __name__ == "__main__":
    unittest.main()
