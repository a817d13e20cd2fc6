"""What the README shows is what the project does. `tests/test_pages.py` tests its code and text."""

import re
import unittest
from pathlib import Path

from docs import pages

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the contents of the README's fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


class TestReadme(unittest.TestCase):
    def test_the_commands_are_the_ones_that_ci_runs(self) -> None:
        demo, tests = blocks("sh")
        self.assertRegex(demo, r"\Apython3 -m venv \.venv && .* -m modeltest demo\n\Z")
        self.assertEqual(tests, ".venv/bin/python -m pytest -n auto\n")

    def test_python_is_taken_from_a_tested_example(self) -> None:
        generated = "".join(pages.parts(README).values())
        self.assertTrue(blocks("python"))
        for block in blocks("python"):
            self.assertIn(block, generated)

    def test_the_failure_is_what_the_demo_prints(self) -> None:
        (shown,) = blocks("text")
        (command,) = [command for command in pages.parts(README) if "modeltest.demo" in command]
        self.assertIn(shown, pages.parts(README)[command])

    def test_links_lead_to_files(self) -> None:
        targets = re.findall(r"\]\(([^)#:]+)\)", README)
        self.assertTrue(targets)
        for target in targets:
            with self.subTest(target):
                self.assertTrue((ROOT / target).is_file())

    def test_every_page_is_linked(self) -> None:
        for path in (ROOT / "docs").glob("*.md"):
            if path.stem not in ("index", "changelog"):  # what takes their place here
                with self.subTest(path.name):
                    self.assertIn(f"](docs/{path.name})", README)


if __name__ == "__main__":
    unittest.main()
