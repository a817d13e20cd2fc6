"""What the runners print: unittest, pytest, JUnit, and the list of known faults."""

import importlib.util
import tempfile
import unittest
from pathlib import Path

from tests.testcase.running import acme, python, run, text_of

CLEAN, MAY_FAIL = "test_break_releases", "test_any_bytes_are_an_event_or_an_error"
CONTRACT = """
from tests.testcase.running import *
from modeltest import ModelContractTestCase

class Broken(AcmeModel):
    def stream(self, request):
        for given in super().stream(request):
            raise KeyError("broken")
            yield

class TestAcme(ModelContractTestCase):
    expected_failures = {
        "framing/any-bytes": "KeyError, see issue 7",
        "faults/status": "mended long ago",
    }
    event = staticmethod(event)

    def new_model(self, base_url, client):
        return (Broken if {broken} else AcmeModel)(base_url, client, "key")
"""
CHOSEN = "(any_bytes or http_errors or break_releases or refused_tool or set_up)"


def pytest(*arguments: str, broken: str = "'1' in base_url", **environment: str) -> tuple[str, str]:
    """Return what pytest prints of the contract, and its JUnit file."""
    with tempfile.TemporaryDirectory() as directory:
        tests = Path(directory, "test_contract_of_acme.py")
        tests.write_text(CONTRACT.replace("{broken}", broken), "utf-8")
        report = Path(directory, "junit.xml")
        options = ("-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={directory}")
        environment["COLUMNS"] = "400"
        done = python(
            "-m", "pytest", str(tests), *options, f"--junitxml={report}", *arguments, **environment
        )
        return done.stdout, report.read_text("utf-8")


class TestUnexpectedSuccess(unittest.TestCase):
    def test_it_says_which_why_and_what_to_do(self) -> None:
        tests = acme(expected_failures={"release/break": "issue 7"})
        text = text_of(run(tests, CLEAN))
        self.assertRegex(text, r"release/break: unexpected success: .* \(issue 7\)")
        self.assertRegex(text, r"\n  fix      remove it from expected_failures")


@unittest.skipUnless(importlib.util.find_spec("pytest"), "needs pytest")
class TestPytest(unittest.TestCase):
    out: str
    junit: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.out, cls.junit = pytest(
            "-ra",
            "-k",
            CHOSEN,
            broken="'any_bytes' in self.id() or 'break' in self.id()",
            MODELTEST_KNOWN_FAULTS="print",
        )

    def test_the_reason_of_a_known_fault(self) -> None:
        self.assertRegex(
            self.out, r"XFAIL .*any_bytes\w* - framing/any-bytes: KeyError, see issue 7"
        )
        self.assertIn('message="framing/any-bytes: KeyError, see issue 7"', self.junit)

    def test_a_known_fault_that_is_none(self) -> None:
        self.assertRegex(self.out, r"E +AssertionError: faults/status: unexpected success")

    def test_a_failure_shows_the_rule_and_the_author_s_line_alone(self) -> None:
        self.assertRegex(
            self.out, r"E +rule     Breaking out of the event loop releases the response\."
        )
        self.assertRegex(self.out, r">   class TestAcme\(ModelContractTestCase\):")
        for of_the_kit in ("judge(self)", "failureException", "attach.py", "case.py"):
            self.assertNotIn(of_the_kit, self.out)

    def test_a_skip_says_whose_it_is(self) -> None:
        self.assertRegex(self.out, r"SKIPPED \[1\] \S*test_contract_of_acme\.py:\d+: tools/names: ")

    def test_known_faults_are_printed_ready_to_be_pasted(self) -> None:
        found = self.out.partition("\n# test_contract_of_acme.TestAcme\nexpected_failures = ")[2]
        faults = eval(found)  # noqa: S307 - a dict that the kit has just printed
        self.assertEqual(faults["framing/any-bytes"], "KeyError, see issue 7")
        self.assertRegex(faults["release/break"], "KeyError")
        self.assertNotIn("faults/status", faults)


if __name__ == "__main__":
    unittest.main()
