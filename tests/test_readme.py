"""What the README shows is what the project does."""

import io
import re
import textwrap
import unittest
from pathlib import Path

from modeltest import demo

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the contents of the README's fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


class TestReadme(unittest.TestCase):
    def test_python_is_taken_from_a_tested_example(self) -> None:
        examples = [
            path.read_text(encoding="utf-8")
            for folder in ("docs/examples", "tests/adapters")
            for path in (ROOT / folder).glob("test_*.py")
        ]
        shown = blocks("python")
        self.assertTrue(shown)
        for block in shown:
            with self.subTest(textwrap.shorten(block, 60)):
                self.assertTrue(any(block in example for example in examples), block)

    def test_the_failure_is_what_the_demo_prints(self) -> None:
        (shown,) = blocks("text")
        out = io.StringIO()
        self.assertTrue(demo.run(out))
        printed = out.getvalue().splitlines()
        for line in shown.splitlines():
            # How far the connection's end has got when it is looked at is not the same each time.
            if not line.startswith(("  server", "  client")):
                self.assertTrue(line in printed, f"the demo does not print: {line}")

    def test_links_lead_to_files(self) -> None:
        targets = re.findall(r"\]\(([^)#:]+)\)", README)
        self.assertTrue(targets)
        for target in targets:
            with self.subTest(target):
                self.assertTrue((ROOT / target).is_file())


if __name__ == "__main__":
    unittest.main()
