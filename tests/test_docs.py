"""The pages of the documentation say what is so."""

import ast
import dataclasses
import re
import unittest
from pathlib import Path

from modeltest import (
    Finish,
    FinishReason,
    Image,
    Message,
    ModelContractTestCase,
    Reasoning,
    ReasoningDelta,
    Request,
    Text,
    TextDelta,
    Tool,
    ToolCallDelta,
    ToolChoice,
    ToolResult,
    ToolUse,
    Usage,
    corpus,
    wire,
)
from modeltest.checks import ALL
from modeltest.wire import Framing, SameEvent, Unsupported, UsagePlacement, WireFormat
from tests.adapters.apart_wire import ApartLines

ROOT = Path(__file__).parents[1]
CHECKS = ROOT / "modeltest" / "checks"

FOR_CHECKS = (
    "config_error",
    "retries",
    "idle_timeout",
    "refused_tool_names",
    "accepted_tool_names",
)
"""Attributes of a test case that nothing but a check could read."""

FORMATS = {
    f"{name}({', '.join(f'{option}={value!r}' for option, value in options.items())})": made
    for name, kind in wire.FORMATS.items()
    for options in kind.variants
    for made in [kind(**options)]
    if not options or made.name != kind.name  # a variant that is not what its class says
}
"""How each format is written → the format."""


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


class TestWritingPage(unittest.TestCase):
    def test_every_field_that_an_adapter_meets_is_named(self) -> None:
        text = page("docs/writing-an-adapter.md")
        rows = [line for line in text.splitlines() if line.startswith("| `")]
        for kind in (
            *(Request, Message, Text, Image, Reasoning, ToolUse, ToolResult, Tool, ToolChoice),
            *(TextDelta, ReasoningDelta, ToolCallDelta, Finish, Usage),
        ):
            (row,) = [row for row in rows if row.startswith(f"| `{kind.__name__}`")][:1]
            for field in dataclasses.fields(kind):
                with self.subTest(kind.__name__, field=field.name):
                    self.assertIn(f"`{field.name}`", row)
        for reason in FinishReason:
            self.assertIn(f'"{reason}"', text)


class TestWirePage(unittest.TestCase):
    def setUp(self) -> None:
        self.page = page("docs/wire.md")

    def test_every_format_is_in_the_table_with_its_framing_and_source(self) -> None:
        for call, made in FORMATS.items():
            with self.subTest(call):
                self.assertIn(f"| `{call}` | {made.framing} | {made.source} |\n", self.page)

    def test_there_are_no_other_formats(self) -> None:
        public = (getattr(wire, name) for name in wire.__all__)
        classes = {kind for kind in public if isinstance(kind, type)}
        formats = {
            kind for kind in classes if issubclass(kind, WireFormat) and hasattr(kind, "reasons")
        }
        self.assertEqual(formats, {type(made) for made in FORMATS.values()})

    def test_every_framing_and_placement_has_a_row(self) -> None:
        for member in (*Framing, *UsagePlacement):
            with self.subTest(member.name):
                self.assertIn(f"\n| `{member.name}` | ", self.page)

    def test_what_is_required_and_what_is_optional_exists(self) -> None:
        required, _, others = (
            self.page.partition("### What is required")[2]
            .partition("### What a provider never sends")[0]
            .partition("### What is optional")
        )
        named = set(re.findall(r"^\| `(\w+)(?:\(.*?\))?` \|", required, re.MULTILINE))
        self.assertEqual(named, set(WireFormat.required))
        rows = re.findall(r"^\| (`.*?`) \|", others, re.MULTILINE)
        self.assertTrue(rows)
        for row in rows:
            for name in re.findall(r"`(\w+)", row):
                with self.subTest(name):
                    self.assertTrue(hasattr(WireFormat, name))

    def test_the_last_line_may_be_kept_apart(self) -> None:
        stop = Finish(FinishReason.STOP)
        spelled = ApartLines().encode(TextDelta("a"), Finish(FinishReason.STOP, usage=Usage(1, 2)))
        self.assertEqual(spelled.data, b'{"say":"a"}\n{"over":"done","tokens":[1,2]}\n')
        with self.assertRaisesRegex(Unsupported, "the last line has no content"):
            ApartLines().encode(SameEvent((TextDelta("a"), stop)))
        left = [body.name for body in corpus.finish_beside_content_bodies(ApartLines())]
        self.assertTrue(left)
        self.assertFalse([name for name in left if "beside" in name])


class TestAttributes(unittest.TestCase):
    def setUp(self) -> None:
        self.page = page("docs/api.md").partition("\n## Test cases")[0]
        base = ModelContractTestCase.__mro__[1]
        self.attributes = {
            name for name in base.__annotations__ if not name.startswith("_")
        }  # all but the two that must be given

    def test_every_attribute_is_named(self) -> None:
        for name in self.attributes:
            with self.subTest(name):
                self.assertRegex(self.page, rf"(?m)^\| .*`{name}(?:\(.*?\))?`.*? \|")

    def test_what_no_check_reads_is_said(self) -> None:
        said = re.search(r"No check reads (.*?) yet\.", self.page, re.DOTALL)
        source = "".join(path.read_text(encoding="utf-8") for path in CHECKS.glob("*.py"))
        needed = {str(need.value) for check in ALL for need in check.needs}
        unread = {
            name
            for name in FOR_CHECKS
            if name not in needed and not re.search(rf"\.{name}\b", source)
        }
        self.assertEqual(
            set(re.findall(r"`(\w+)`", said[1])) if said else set(),
            unread,
            'a check reads it now: correct the sentence "No check reads …" in docs/api.md',
        )


class TestOtherPages(unittest.TestCase):
    def test_every_public_name_of_the_wire_is_in_the_api(self) -> None:
        api = page("docs/api.md")
        (left_out,) = re.findall(
            r"automodule:: modeltest\.wire\n(?: .*\n)*? +:exclude-members: (.*)\n", api
        )
        apart = re.findall(r"autoclass:: modeltest\.wire\.(\w+)", api)
        self.assertCountEqual(left_out.split(", "), apart)

    def test_every_example_adapter_is_in_the_table(self) -> None:
        told = page("docs/writing-an-adapter.md")
        for path in (ROOT / "docs/examples").glob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            adapters = [
                kind
                for kind in tree.body
                if isinstance(kind, ast.ClassDef)
                and any(getattr(member, "name", "") == "stream" for member in kind.body)
            ]
            if adapters and not path.name.startswith("test_"):
                with self.subTest(path.name):
                    self.assertIn(f"| `{path.name}` |", told)

    def test_the_documentation_is_built_as_it_says(self) -> None:
        (command,) = re.findall(r"`(sphinx-build [^`]*)`", page("docs/conf.py"))
        self.assertIn(f"commands = {command} ", page("setup.cfg"))

    def test_every_page_is_in_the_table_of_contents(self) -> None:
        listed = page("docs/index.md").partition("{toctree}")[2].split()
        for path in (ROOT / "docs").glob("*.md"):
            if path.stem != "index":
                with self.subTest(path.name):
                    self.assertIn(path.stem, listed)

    def test_links_lead_to_files(self) -> None:
        for path in (ROOT / "docs").glob("**/*.md"):
            for target in re.findall(r"\]\(([^)#: ]+)[^):]*\)", path.read_text(encoding="utf-8")):
                with self.subTest(f"{path.name}: {target}"):
                    self.assertTrue((path.parent / target).is_file())


if __name__ == "__main__":
    unittest.main()
