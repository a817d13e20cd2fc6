"""The pages of the contract say of every check what brings its fault out."""

import re
import tempfile
import unittest
from pathlib import Path

from docs import contract_pages, wire_shown
from docs.on_the_wire import ON_THE_WIRE
from modeltest import corpus
from modeltest.backend import Response, Send
from modeltest.checks import ALL, name_of
from modeltest.wire import OpenAIChat

LINES = 30
"""Lines of a block that is still read."""


class TestSnippets(unittest.TestCase):
    def test_every_check_has_one_and_nothing_else_does(self) -> None:
        self.assertEqual(sorted(ON_THE_WIRE), sorted(map(name_of, ALL)))

    def test_they_are_short_and_can_stand_on_a_page(self) -> None:
        for id_, snippet in ON_THE_WIRE.items():
            with self.subTest(id_):
                self.assertRegex(snippet.shows, r"^\S.*\.$")
                self.assertTrue(snippet.block.strip())
                self.assertLessEqual(len(snippet.block.splitlines()), LINES)
                self.assertLessEqual(max(map(len, snippet.block.splitlines())), 200)
                self.assertNotIn("```", snippet.block)

    def test_each_is_its_own(self) -> None:
        blocks = [snippet.block for snippet in ON_THE_WIRE.values()]
        self.assertEqual(len(set(blocks)), len(blocks))


class TestPages(unittest.TestCase):
    def setUp(self) -> None:
        docs = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (docs / "contract").mkdir()
        (docs / "contract" / "gone.md").touch()
        contract_pages.write_pages(docs)
        self.pages = {
            path.stem: path.read_text(encoding="utf-8") for path in (docs / "contract").iterdir()
        }
        self.overview = (docs / "_generated" / "checks.md").read_text(encoding="utf-8")

    def test_there_is_one_for_each_group(self) -> None:
        self.assertEqual(set(self.pages), {check.group for check in ALL})
        for group in self.pages:
            with self.subTest(group):
                self.assertIn(f"\ncontract/{group}\n", self.overview)
                self.assertTrue(self.pages[group].startswith(f"# {group}: "))

    def test_a_row_of_the_table_leads_to_each_check(self) -> None:
        seen = set()
        for check in ALL:
            with self.subTest(name_of(check)):
                (label,) = re.findall(
                    rf"\| \[`{check.id}`\]\(#(\S+)\) \| .*"
                    rf"\| {re.escape(contract_pages.cell(check.requirement))} \|",
                    self.overview,
                )
                heading = contract_pages.heading(check)
                self.assertIn(f"({label})=\n## {heading}\n", self.pages[check.group])
                self.assertNotIn(label, seen)
                seen.add(label)

    def test_all_is_said_of_each_check(self) -> None:
        for check in ALL:
            with self.subTest(name_of(check)):
                heading = contract_pages.heading(check)
                _, said = self.pages[check.group].split(f"\n## {heading}\n")
                said = said.partition("\n## ")[0]
                for part in (check.method, check.level, check.requirement, check.why, check.fix):
                    self.assertIn(part, said)
                for need in check.needs:
                    self.assertIn(f"needs `{need.value}`", said)
                self.assertIn(ON_THE_WIRE[name_of(check)].block, said)

    def test_the_other_cases_are_named_up_to_six(self) -> None:
        self.assertEqual(contract_pages.also_played(()), [])
        self.assertEqual(contract_pages.also_played(("a", "b"))[-1], "Also played: `a` · `b`")
        many = contract_pages.also_played(tuple("abcdefgh"))[-1]
        self.assertEqual(many, "Also played: `a` · `b` · `c` · `d` · `e` · `f` · and 2 more")


class TestWireShown(unittest.TestCase):
    def test_what_would_not_show_is_spelled_out(self) -> None:
        self.assertEqual(
            wire_shown.visible("é\u2028\n".encode() + b"\xff"), "é\\xe2\\x80\\xa8\n\\xff"
        )
        self.assertEqual(wire_shown.visible(b"a\r\nb\rc\n"), "a\\r\\n\nb\\r\nc\\n")
        self.assertEqual(wire_shown.visible(b"a\n\n", ends=True), "a\\n\n\\n")

    def test_a_long_line_loses_its_middle(self) -> None:
        shown = wire_shown.visible(b"a" * 1000 + b"\n")
        self.assertEqual(shown, f"{'a' * 120} … 855 characters more … {'a' * 25}")

    def test_a_body_that_ends_by_itself_is_said_to_end(self) -> None:
        shown = wire_shown.played(Response((Send(b"a\n"),)))
        self.assertTrue(shown.endswith("\n\na\n\n(the last chunk, which ends the body)"), shown)

    def test_the_short_format_spells_the_same_bodies(self) -> None:
        for short, whole in zip(
            corpus.whole_bodies(wire_shown.ShortChat()),
            corpus.whole_bodies(OpenAIChat()),
            strict=True,
        ):
            with self.subTest(short.name):
                self.assertEqual(short.name, whole.name)
                self.assertEqual(short.text, whole.text)
                self.assertEqual(short.finish, whole.finish)


if __name__ == "__main__":
    unittest.main()
