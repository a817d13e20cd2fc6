"""The page about readers says what is so."""

import re
import unittest
from pathlib import Path

from modeltest.checks import IN_MEMORY
from modeltest.delivery.rules import FIXES
from modeltest.testcases.parser import SSEReaderTestCase
from tests.adapters import test_sse_reader as example
from tests.mutants.parsers.ends import EndsAtAWholeLine

from .running import case_of, failed

PAGE = (Path(__file__).parents[2] / "docs" / "reader.md").read_text(encoding="utf-8")
PREFIX = "test_every_prefix_is_an_error_or_the_same_turn"


class TestPage(unittest.TestCase):
    def test_every_clause_and_rule_is_named(self) -> None:
        named = set(re.findall(r"`([a-z-]+/[a-z0-9*-]+)`", PAGE))
        for id_ in (*(clause.id for clause in IN_MEMORY), *(FIXES.keys() - {"reader/prefix"})):
            with self.subTest(id_):
                self.assertIn(id_, named)

    def test_the_table_has_no_others(self) -> None:
        rows = re.findall(r"^\| `[a-z]+` \| (`[a-z]+/.*?) \|", PAGE, re.MULTILINE)
        listed = [id_ for row in rows for id_ in re.findall(r"`(.+?)`", row)]
        self.assertCountEqual(listed, [clause.id for clause in IN_MEMORY])

    def test_every_attribute_is_named(self) -> None:
        defined = [name for name in vars(SSEReaderTestCase) if not name.startswith(("_", "test"))]
        for name in ("stream_sse", *defined):
            with self.subTest(name):
                self.assertRegex(PAGE, rf"\| .*`{name}`")

    def test_the_failure_reads_so(self) -> None:
        case = case_of(EndsAtAWholeLine(), bodies={"hello": example.RECORDED})
        text = failed(case, PREFIX)[PREFIX].removeprefix("AssertionError: ").rstrip()
        self.assertIn(f"```text\n{text}\n```", PAGE)


if __name__ == "__main__":
    unittest.main()
