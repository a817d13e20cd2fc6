"""The pages of the contract are those of the checks, and say of each what reproduces its fault."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

from docs import contract_pages, wire_shown
from modeltest.backend import Response, Send, writes
from modeltest.checks import ALL, name_of
from modeltest.corpus import whole_bodies
from modeltest.wire import OpenAIChat

LINES = 30
"""Lines of a block that is still read."""

DOCS = contract_pages.DOCS


def blocks() -> dict[str, str]:
    """Return what is shown of each check that has an example."""
    return {
        name_of(check): contract_pages.block(check, check.example)[1]
        for check in ALL
        if check.example is not None
    }


class TestExamples(unittest.TestCase):
    def test_every_check_has_one(self) -> None:
        self.assertEqual([name_of(check) for check in ALL if check.example is None], [])

    def test_they_are_short_and_can_stand_on_a_page(self) -> None:
        for check in ALL:
            if check.example is not None:
                with self.subTest(name_of(check)):
                    self.assertRegex(check.example.text, r"^\S.*\.$")
        for name, block in blocks().items():
            with self.subTest(name):
                self.assertTrue(block.strip())
                self.assertLessEqual(len(block.splitlines()), LINES)
                self.assertLessEqual(max(map(len, block.splitlines())), 200)
                self.assertNotIn("```", block)

    def test_each_is_its_own(self) -> None:
        shown = list(blocks().values())
        self.assertEqual(len(set(shown)), len(shown))

    def test_a_sequence_says_all_three(self) -> None:
        for check in ALL:
            if check.example is not None and check.example.consumer:
                with self.subTest(name_of(check)):
                    self.assertTrue(check.example.fault)
                    self.assertTrue(check.example.server or check.example.sends)


class TestPages(unittest.TestCase):
    def setUp(self) -> None:
        self.contract = (DOCS / "contract.md").read_text(encoding="utf-8")
        self.pages = {
            path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "contract").iterdir()
        }

    def test_they_are_what_the_checks_say(self) -> None:
        self.assertEqual(contract_pages.main(["--check"]), 0, "run `python -m docs.contract_pages`")

    def test_they_are_plain_markdown(self) -> None:
        for name, text in {"contract": self.contract, **self.pages}.items():
            with self.subTest(name):
                prose = re.sub(r"(?ms)^```text\n.*?^```$", "", text)
                self.assertNotRegex(prose, r"(?m)^```|^\(.*\)=$|\{[a-z]+\}`|^: ")

    def test_there_is_one_for_each_group(self) -> None:
        self.assertEqual(set(self.pages), {check.group for check in ALL})
        for group in self.pages:
            with self.subTest(group):
                self.assertTrue(self.pages[group].startswith(f"# {group}: "))

    def test_a_row_of_the_table_leads_to_each_check(self) -> None:
        seen = set[str]()
        for check in ALL:
            with self.subTest(name_of(check)):
                anchor = contract_pages.anchor(contract_pages.heading(check))
                self.assertIn(
                    f"\n| [`{check.id}`](contract/{check.group}.md#{anchor}) | {check.level} | "
                    f"{contract_pages.needs(check)} | "
                    f"{contract_pages.cell(check.requirement)} |\n",
                    self.contract,
                )
                self.assertNotIn(anchor, seen)
                seen.add(anchor)

    def test_an_anchor_is_what_code_hosts_make_of_a_heading(self) -> None:
        self.assertEqual(contract_pages.anchor("release/clean-next"), "releaseclean-next")
        self.assertEqual(contract_pages.anchor("tools/names, test_a_b"), "toolsnames-test_a_b")

    def test_all_is_said_of_each_check(self) -> None:
        shown = blocks()
        for check in ALL:
            with self.subTest(name_of(check)):
                heading = contract_pages.heading(check)
                _, said = self.pages[check.group].split(f"\n## {heading}\n")
                said = said.partition("\n## ")[0]
                for part in (check.method, check.level, check.requirement, check.why, check.fix):
                    self.assertIn(part, said)
                for need in check.needs:
                    self.assertIn(f"needs `{need.value}`", said)
                self.assertIn(shown.get(name_of(check), ""), said)

    def test_the_other_cases_are_named_up_to_six(self) -> None:
        self.assertEqual(contract_pages.also_tried(()), [])
        self.assertEqual(contract_pages.also_tried(("a", "b"))[-1], "Also tried: `a` · `b`")
        many = contract_pages.also_tried(tuple("abcdefgh"))[-1]
        self.assertEqual(many, "Also tried: `a` · `b` · `c` · `d` · `e` · `f` · and 2 more")


class TestStale(unittest.TestCase):
    def setUp(self) -> None:
        self.docs = Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copy(DOCS / "contract.md", self.docs)
        contract_pages.write_pages(self.docs)

    def test_what_was_written_is_not(self) -> None:
        self.assertEqual(contract_pages.differing(self.docs), [])

    def test_a_page_that_differs_or_is_missing_is(self) -> None:
        (self.docs / "contract" / "tools.md").write_text("# tools\n", encoding="utf-8")
        (self.docs / "contract" / "calls.md").unlink()
        self.assertEqual(
            contract_pages.differing(self.docs), ["contract/calls.md", "contract/tools.md"]
        )

    def test_a_row_that_differs_is(self) -> None:
        page = self.docs / "contract.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"\| MUST \|", "| SHOULD |", text, count=1), encoding="utf-8")
        self.assertEqual(contract_pages.differing(self.docs), ["contract.md"])

    def test_a_page_of_no_group_is_and_is_removed(self) -> None:
        (self.docs / "contract" / "gone.md").touch()
        self.assertEqual(contract_pages.differing(self.docs), ["contract/gone.md"])
        contract_pages.write_pages(self.docs)
        self.assertFalse((self.docs / "contract" / "gone.md").exists())


class TestWireShown(unittest.TestCase):
    def test_what_would_not_show_is_spelled_out(self) -> None:
        self.assertEqual(
            wire_shown.visible("é\u2028\n".encode() + b"\xff"), "é\\xe2\\x80\\xa8\n\\xff"
        )
        self.assertEqual(wire_shown.visible(b"a\r\nb\rc\n"), "a\\r\\n\nb\\r\nc\\n")
        self.assertEqual(wire_shown.visible(b"a\n\n\n"), "a\\n\n\\n\n\\n")
        self.assertEqual(wire_shown.visible(b"\na\n"), "\\n\na\\n")

    def test_a_long_line_loses_its_middle(self) -> None:
        shown = wire_shown.visible(b"a" * 1000 + b"\n")
        self.assertEqual(shown, f"{'a' * 120} … 855 characters more … {'a' * 25}")

    def test_a_body_that_ends_by_itself_is_said_to_end(self) -> None:
        shown = wire_shown.played(Response((Send(b"a\n"),)))
        self.assertTrue(shown.endswith("\n\na\n\n(the last chunk, which ends the body)"), shown)

    def test_each_write_of_a_cut_event_is_shown(self) -> None:
        shown = wire_shown.played(Response((writes(b"abc", 2),)))
        self.assertIn("\n\nb'ab'\nb'c'\n\n(the last chunk", shown)

    def test_the_short_format_spells_the_same_bodies(self) -> None:
        for short, whole in zip(
            whole_bodies(wire_shown.ShortChat()), whole_bodies(OpenAIChat()), strict=True
        ):
            with self.subTest(short.name):
                self.assertEqual(short.name, whole.name)
                self.assertEqual(short.text, whole.text)
                self.assertEqual(short.finish, whole.finish)


if __name__ == "__main__":
    unittest.main()
