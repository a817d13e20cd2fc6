"""The page about published clients: what it tells, and how a changed verdict is noticed."""

from __future__ import annotations

import unittest

from modeltest.checks import ALL, BY_NAME, name_of
from modeltest.harness import Outcome, Status
from tests.real.page import Client, shortened, table, told_of_skips, verdicts
from tests.real.report import changed

BREAK, CLOSE, REUSE = "release/break", "release/close", "isolation/reuse"


def outcomes(**statuses: Status) -> dict[str, Outcome]:
    """Everything passes, except what is given by method name."""
    given = {name_of(BY_NAME[method]): status for method, status in statuses.items()}
    checks = {name_of(check): check for check in ALL}
    return {name: Outcome(c, given.get(name, Status.PASSED)) for name, c in checks.items()}


class TestVerdicts(unittest.TestCase):
    def setUp(self) -> None:
        failing = outcomes(test_break_releases=Status.FAILED, test_close_releases=Status.SKIPPED)
        warning = outcomes(test_break_releases=Status.WARNED, test_close_releases=Status.SKIPPED)
        self.clients = [Client("a", outcomes=failing), Client("b, too", outcomes=warning)]
        self.told = verdicts(f"# Title\n\nA | b\n\n{table(self.clients)}\n## End\n")

    def test_table_is_read_back(self) -> None:
        self.assertEqual(self.told["a", BREAK], "fails")
        self.assertEqual(self.told["b, too", BREAK], "warns")
        self.assertEqual(self.told["a", REUSE], "passes")

    def test_check_that_judges_nobody_has_no_row(self) -> None:
        self.assertNotIn(("a", CLOSE), self.told)

    def test_same_run_changes_nothing(self) -> None:
        self.assertEqual(changed(self.told, verdicts(table(self.clients))), [])

    def test_changed_verdict_is_named(self) -> None:
        found = self.told | {("a", BREAK): "passes"}
        self.assertEqual(
            changed(self.told, found), ["a: release/break passes now; the page says: fails"]
        )

    def test_new_and_vanished_checks_are_named(self) -> None:
        found = self.told | {("a", CLOSE): "fails"}
        del found["a", REUSE]
        self.assertCountEqual(
            changed(self.told, found),
            [
                "a: release/close fails now; the page says: nothing",
                "a: isolation/reuse is not judged now; the page says: passes",
            ],
        )

    def test_page_without_a_table_tells_nothing(self) -> None:
        self.assertEqual(verdicts("# Title\n"), {})


class TestSkips(unittest.TestCase):
    def told(self, status: Status, why: str, *checks: str) -> list[str]:
        """Return what is told of one client's skips, beside another that skips nothing."""
        found = {
            name: Outcome(outcome.check, status, why) if name in checks else outcome
            for name, outcome in outcomes().items()
        }
        clients = [Client("a", outcomes=found), Client("b", outcomes=outcomes())]
        return list(told_of_skips(clients[0], clients))

    def test_reason_is_told_once_for_all_its_checks(self) -> None:
        self.assertEqual(
            self.told(Status.SKIPPED, "it may hang", BREAK, CLOSE),
            ["`release/break`, `release/close` are skipped: it may hang.\n"],
        )

    def test_passed_check_is_not_told(self) -> None:
        self.assertEqual(self.told(Status.PASSED, "one case cannot be judged", BREAK), [])

    def test_attribute_that_was_not_set_is_not_told(self) -> None:
        self.assertEqual(self.told(Status.SKIPPED, "needs `retries`: set it", BREAK), [])

    def test_most_checks_are_told_by_one_word(self) -> None:
        most = list(outcomes())[3:]
        self.assertEqual(
            self.told(Status.SKIPPED, "others do it", *most),
            ["All other checks are skipped: others do it.\n"],
        )


class TestShortened(unittest.TestCase):
    def test_fix_is_left_out(self) -> None:
        text = "release/break: still open.\n  server   sent 1 event\n  fix      close it"
        self.assertEqual(shortened(text), "release/break: still open.\n  server   sent 1 event")

    def test_bytes_and_stacks_are_left_out(self) -> None:
        text = "x/y: no.\n  stack    a.py:1 in f: g()\n           b.py:2 in g: h()\n  wire     b''"
        self.assertEqual(shortened(text), "x/y: no.")

    def test_first_case_stands_for_all(self) -> None:
        text = "x/y: 2 of 2 cases fail.\n- one: no.\n  server   saw it\n- two: no.\n  fix      do"
        self.assertEqual(
            shortened(text), "x/y: 2 of 2 cases fail.\n- one: no.\n  server   saw it\n- …"
        )

    def test_long_lines_are_wrapped_under_their_text(self) -> None:
        first, second = shortened(f"  server   {'word ' * 25}").splitlines()
        self.assertLessEqual(len(first), 96)
        self.assertTrue(second.startswith("           word"))
