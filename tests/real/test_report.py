"""The record of what published clients do, and the pages made of it."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from modeltest.checks import ALL, METHODS, name_of
from modeltest.harness import Outcome, Status
from tests.real.causes import CAUSES, NOT_RUN
from tests.real.page import (
    DOCS,
    matrix,
    overview,
    package_page,
    pages,
    stale,
    unexplained,
    write,
)
from tests.real.record import FAILS, PASSES, RECORD, SKIPPED, WARNS, Client, read, written
from tests.real.report import CASES, changed, client_of, failure_texts

BREAK, CLOSE, EMPTY = "release/break", "release/close", "truncation/empty"
SCREEN = 60


def client(title: str = "a, tutorial loop", /, **outcomes: str) -> Client:
    """A client of three checks, each passed unless given."""
    given = {BREAK: "break_", CLOSE: "close", EMPTY: "empty"}
    return Client(title, "a 1.0", {c: outcomes.get(n, PASSES) for c, n in given.items()})


class TestRecord(unittest.TestCase):
    def setUp(self) -> None:
        self.kept = read(RECORD.read_text(encoding="utf-8"))

    def test_what_is_written_is_read_back(self) -> None:
        clients = [client(break_=FAILS), client("b, careful", close=WARNS, empty=SKIPPED)]
        self.assertEqual(read(written(clients)), clients)

    def test_every_adapter_is_recorded(self) -> None:
        self.assertEqual([kept.title for kept in self.kept], list(CASES))

    def test_it_names_checks_of_the_contract_alone(self) -> None:
        self.assertLessEqual({check for kept in self.kept for check in kept.outcomes}, {*METHODS})

    def test_every_failure_has_a_cause_and_every_cause_a_failure(self) -> None:
        self.assertEqual(unexplained(self.kept, CAUSES), [])

    def test_pages_are_up_to_date(self) -> None:
        self.assertEqual(stale(pages(self.kept), DOCS), [])

    def test_pages_fit_one_screen(self) -> None:
        for path, text in pages(self.kept).items():
            with self.subTest(path):
                self.assertLessEqual(len(text.splitlines()), SCREEN)

    def test_pages_are_plain_markdown(self) -> None:
        for path, text in pages(self.kept).items():
            with self.subTest(path):
                self.assertNotIn("```{", text)


class TestCauses(unittest.TestCase):
    def test_they_name_adapters_and_checks(self) -> None:
        self.assertEqual(list(CAUSES), list(CASES))
        self.assertLessEqual({*NOT_RUN}, {*CASES})
        for causes in [*CAUSES.values(), *NOT_RUN.values()]:
            self.assertLessEqual({*causes}, {*METHODS})

    def test_failure_without_a_cause_is_named(self) -> None:
        self.assertEqual(
            unexplained([client(break_=FAILS, close=WARNS)], {"a, tutorial loop": {CLOSE: "so"}}),
            ["a, tutorial loop: release/break has no cause"],
        )

    def test_cause_of_what_passes_is_named(self) -> None:
        self.assertEqual(
            unexplained([client()], {"a, tutorial loop": {BREAK: "so"}}),
            ["a, tutorial loop: release/break does not fail"],
        )


class TestOverview(unittest.TestCase):
    def rows(self, *clients: Client) -> list[str]:
        packages: dict[str, list[Client]] = {}
        for one in clients:
            packages.setdefault(one.package, []).append(one)
        return matrix(packages).splitlines()[2:]

    def test_checks_of_one_group_and_result_share_a_row(self) -> None:
        rows = self.rows(client(break_=FAILS, close=FAILS, empty=FAILS), client("b, tutorial loop"))
        self.assertEqual(
            rows,
            [
                "| [release](contract/release.md)/ break, close | ✗ | ✓ |",
                "| [truncation](contract/truncation.md)/ empty | ✗ | ✓ |",
            ],
        )

    def test_check_that_nobody_fails_has_no_row(self) -> None:
        self.assertEqual(self.rows(client(close=SKIPPED)), [])

    def test_what_all_fail_is_told_below(self) -> None:
        both = [client(break_=FAILS), client("b, tutorial loop", break_=FAILS)]
        self.assertEqual(self.rows(*both), [])
        text = overview({one.package: [one] for one in both})
        self.assertIn("All fail: [release](contract/release.md)/ break.", text)

    def test_retries_count_and_care_does_not(self) -> None:
        rows = self.rows(
            client(empty=SKIPPED),
            client("a, retrying", empty=WARNS),
            client("a, careful", break_=FAILS),
        )
        self.assertEqual(rows, ["| [truncation](contract/truncation.md)/ empty | w |"])


class TestPackagePage(unittest.TestCase):
    def page(self, *clients: Client, cause: str = "so it is") -> str:
        return package_page("a", clients, {"a, tutorial loop": {BREAK: cause, CLOSE: cause}})

    def test_cause_is_told_once_for_all_its_checks(self) -> None:
        text = self.page(client(break_=FAILS, close=WARNS))
        self.assertIn("| `release/break`, `release/close` (w) | So it is. |\n", text)

    def test_version_and_command_are_there(self) -> None:
        text = self.page(client(break_=FAILS))
        self.assertIn("Run with a 1.0.", text)
        self.assertIn("python -m tests.real.report --print a\n", text)

    def test_adapter_without_a_failure_has_no_table(self) -> None:
        text = self.page(client("a, careful"))
        self.assertIn("passes every check that can judge it", text)
        self.assertNotIn("| ---", text)


class TestStale(unittest.TestCase):
    def setUp(self) -> None:
        self.docs = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.made = pages([client()], {})
        write(self.made, self.docs)

    def test_pages_just_written_are_not(self) -> None:
        self.assertEqual(stale(self.made, self.docs), [])

    def test_edited_page_is(self) -> None:
        (self.docs / "clients/a.md").write_text("# mine\n", encoding="utf-8")
        self.assertEqual(stale(self.made, self.docs), ["docs/clients/a.md is not up to date"])

    def test_page_of_a_package_that_is_gone_is_and_is_removed(self) -> None:
        (self.docs / "clients/z.md").write_text("# z\n", encoding="utf-8")
        self.assertEqual(stale(self.made, self.docs), ["docs/clients/z.md is not up to date"])
        write(self.made, self.docs)
        self.assertEqual(stale(self.made, self.docs), [])


class TestChanged(unittest.TestCase):
    def test_same_run_changes_nothing(self) -> None:
        self.assertEqual(changed([client()], [client()]), [])

    def test_changed_outcome_is_named(self) -> None:
        self.assertEqual(
            changed([client(break_=FAILS)], [client()]),
            ["a, tutorial loop: release/break passes; the record says: fails"],
        )

    def test_new_and_vanished_checks_are_named(self) -> None:
        before = Client("a", "", {BREAK: PASSES})
        self.assertEqual(
            changed([before], [Client("a", "", {CLOSE: FAILS})]),
            [
                "a: release/break is gone; the record says: passes",
                "a: release/close fails; the record says: nothing",
            ],
        )

    def test_client_that_was_not_run_is_left_alone(self) -> None:
        self.assertEqual(changed([client(), client("b, careful")], [client()]), [])


class TestRun(unittest.TestCase):
    def setUp(self) -> None:
        failing = Outcome(ALL[0], Status.FAILED, "it is still open")
        passing = Outcome(ALL[1], Status.PASSED)
        self.run_ = {name_of(ALL[0]): failing, name_of(ALL[1]): passing}

    def test_failure_texts_are_whole(self) -> None:
        self.assertEqual(
            failure_texts("a, careful", self.run_),
            ["a, careful: 1 failed or warned", "\nit is still open"],
        )

    def test_run_is_recorded_in_words_with_its_versions(self) -> None:
        # The packages need not be installed here.
        with mock.patch("tests.real.report.version", return_value="1.2.3"):
            kept = client_of("openai, careful", self.run_)
        self.assertEqual(list(kept.outcomes.values()), [FAILS, PASSES])
        self.assertRegex(kept.ran, r"^openai 1\.2\.3 over httpx2 1\.2\.3, modeltest ")
