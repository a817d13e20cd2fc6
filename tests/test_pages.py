"""The pages read well as plain Markdown, and show what is so."""

import itertools
import re
import unittest
from pathlib import Path
from unittest import mock

from docs import pages
from docs.snippets import test_acme_client, test_naive, test_with_mock
from modeltest import ContractWarning, ModelContractTestCase

ROOT = Path(__file__).parents[1]
WRITTEN_ELSEWHERE = ("clients.md", "writing-an-adapter.md")
"""Pages with tests of their own."""

EXAMPLE = "<!-- check against code"
"""Before a block of code that shows what is still to be written."""

OF_SPHINX = {
    "a directive": r"^(?:```|:::)\{",
    "a role": r"\{[a-z:]+\}`",
    "a link without text": r"\[\]\(",
    "a definition list": r"^: ",
    "a target": r"^\(.*\)=$",
}
"""What a code host shows as it stands."""


def read() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in pages.pages()}


def plain(page: str) -> str:
    """Return a page as a code host shows it: without comments."""
    return re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)


def anchors(page: str) -> set[str]:
    """Return what a link may lead to in a page, by a code host's rule."""
    headings = re.findall(r"^#+ (.*)$", plain(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class TestGeneratedParts(unittest.TestCase):
    def test_they_are_current(self) -> None:
        for name, page in read().items():
            for command, text in pages.parts(page).items():
                with self.subTest(f"{name}: {command}"):
                    self.assertEqual(
                        pages.steady(text),
                        pages.steady(pages.made(command)),
                        "run `python -m docs.pages`, and commit what it changes",
                    )

    def test_what_varies_by_chance_is_left_as_it_is(self) -> None:
        command = "failure modeltest.demo.cases TestNaive test_truncated_is_an_error"
        text = pages.made(command)
        page = f"<!-- generated: {command} -->\n{text}<!-- /generated -->\n"
        other = page.replace("  server   sent 2 events", "  server   sent them")
        self.assertNotEqual(page, other)
        self.assertEqual(pages.renewed(other), other)
        stale = page.replace("truncation/clean", "truncation/dirty")
        self.assertEqual(pages.steady(pages.renewed(stale)), pages.steady(page))

    def test_all_code_of_python_is_taken_from_a_file(self) -> None:
        for name, page in read().items():
            if name in WRITTEN_ELSEWHERE:
                continue
            hand_written = re.sub(
                r"^<!-- generated: .*?^<!-- /generated -->$",
                "",
                page,
                flags=re.DOTALL | re.MULTILINE,
            )
            for before in hand_written.split("\n```python\n")[:-1]:
                with self.subTest(name):
                    self.assertIn(EXAMPLE, before[before.rindex("\n#") :])


class TestPlainMarkdown(unittest.TestCase):
    def test_nothing_shows_that_only_sphinx_understands(self) -> None:
        for name, page in read().items():
            if name in WRITTEN_ELSEWHERE:
                continue
            for what, pattern in OF_SPHINX.items():
                with self.subTest(f"{name}: {what}"):
                    self.assertEqual(re.findall(pattern, plain(page), re.MULTILINE), [])

    def test_links_lead_somewhere(self) -> None:
        for path in pages.pages():
            page = plain(path.read_text(encoding="utf-8"))
            for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", page):
                to = path.parent / target if target else path
                with self.subTest(f"{path.name}: {target}#{anchor}"):
                    self.assertTrue(to.is_file())
                    if anchor:
                        self.assertIn(anchor, anchors(to.read_text(encoding="utf-8")))

    def test_a_page_leads_to_the_next(self) -> None:
        """From the first page on, each ends with a link to the one that follows in the list."""
        listed = re.findall(r"^\d+\. .*?\((.+?)\)", read()["index.md"], re.MULTILINE)
        for name, following in itertools.pairwise(listed):
            with self.subTest(name):
                last = read()[name].rstrip().rsplit("\n\n", 1)[-1]
                self.assertIn(f"]({following})", last)


class TestSnippets(unittest.TestCase):
    def run_all(self, module: object) -> unittest.TestResult:
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
        return result

    def test_the_first_test_case_passes(self) -> None:
        """The page shows how it ran; that this is so still, is tested with the other parts."""
        shown = pages.parts(read()["quickstart.md"])["run test_first"]
        self.assertRegex(shown, r"\n\nOK \(skipped=\d+\)\n")

    def test_the_mock_passes_what_fails_otherwise(self) -> None:
        mocked = self.run_all(test_with_mock)
        self.assertEqual((mocked.testsRun, mocked.wasSuccessful()), (1, True), mocked.errors)
        short = mock.patch.object(test_naive.TestNaive, "deadline", 0.5)
        with short, self.assertWarns(ContractWarning):
            held = self.run_all(test_naive)
        self.assertIn(len(held.failures), range(15, 26), 'docs/why.md says "about twenty"')
        self.assertEqual(held.errors, [])

    @unittest.skipUnless(
        hasattr(ModelContractTestCase, "translate"), "there are no hooks for other events yet"
    )
    def test_a_client_with_events_of_its_own_passes(self) -> None:
        result = self.run_all(test_acme_client)
        self.assertTrue(result.wasSuccessful(), (result.failures, result.errors))

    def test_a_client_of_its_own_does_not_know_the_kit(self) -> None:
        source = (ROOT / "docs/snippets/acme_client.py").read_text(encoding="utf-8")
        self.assertNotIn("import modeltest", source.replace("not import modeltest", ""))
        self.assertNotIn("from modeltest", source)


class TestReadingAFailure(unittest.TestCase):
    def test_every_kind_of_evidence_is_explained(self) -> None:
        sources = [path.read_text(encoding="utf-8") for path in ROOT.glob("modeltest/**/*.py")]
        labels = {label for text in sources for label in re.findall(r'Evidence\("(\w+)"', text)}
        self.assertIn("server", labels)
        rows = re.findall(r"^\| (`.+?) \|", read()["reading-a-failure.md"], re.MULTILINE)
        explained = {label for row in rows for label in re.findall(r"`(\w+)`", row)}
        self.assertEqual(labels - explained, {"fix"})  # the page begins with it


class TestQuickstart(unittest.TestCase):
    def test_it_begins_as_the_readme_does(self) -> None:
        (shell,) = re.findall(
            r"^```sh\n(.*?)^```$", read()["quickstart.md"], re.MULTILINE | re.DOTALL
        )
        self.assertIn(f"```sh\n{shell}```", read()["README.md"])


class TestGlossary(unittest.TestCase):
    def test_it_has_ten_words(self) -> None:
        rows = re.findall(r"^\| (.+?) \|", read()["glossary.md"], re.MULTILINE)
        self.assertEqual(len(rows[2:]), 10, rows)


class TestTroubleshooting(unittest.TestCase):
    def test_every_check_is_there(self) -> None:
        named = set(re.findall(r"`([a-z]+/[\w-]+)`", read()["troubleshooting.md"]))
        self.assertEqual({check.id for check in pages.ALL} - named, set())


if __name__ == "__main__":
    unittest.main()
