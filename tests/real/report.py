"""Runs the contract on published clients and writes what they do: `python -m tests.real.report`.

`--check` writes nothing: it fails when the page's verdicts are not those of a run now.
"""

from __future__ import annotations

import argparse
import sys
import unittest
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from modeltest.checks import ALL, METHODS, name_of
from modeltest.harness import Outcome, Status
from tests.real.page import Client, page, table, verdicts
from tests.real.quick import quick_and_quiet

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"

# The test cases, in the order of the page's columns.
CASES = (
    "tests.real.test_openai.TestNaiveOpenAI",
    "tests.real.test_openai.TestRetryingOpenAI",
    "tests.real.test_openai.TestCarefulOpenAI",
    "tests.real.test_anthropic.TestNaiveAnthropic",
    "tests.real.test_anthropic.TestRetryingAnthropic",
    "tests.real.test_anthropic.TestCarefulAnthropic",
    "tests.real.test_google_genai.TestNaiveGenAI",
    "tests.real.test_mistralai.TestNaiveMistral",
    "tests.real.test_cohere.TestNaiveCohere",
    "tests.real.test_ollama.TestNaiveOllama",
    "tests.real.test_groq.TestNaiveGroq",
    "tests.real.test_huggingface_hub.TestNaiveHuggingFace",
    "tests.real.test_litellm.TestNaiveLiteLLM",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real.report", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the page")
    options = parser.parse_args(arguments)
    try:
        with quick_and_quiet():
            clients = [judged(name) for name in CASES]
    except unittest.SkipTest as missing:
        return _say(f"no run: {missing}", status=2)
    if not options.check:
        PAGE.write_text(page(clients), encoding="utf-8")
        return _say(f"wrote {PAGE}")
    changes = changed(verdicts(PAGE.read_text(encoding="utf-8")), verdicts(table(clients)))
    if changes:
        advice = "If that is right, mend expected_failures and run `python -m tests.real.report`."
        return _say(*changes, advice, status=1)
    return _say(f"the verdicts of {PAGE.name} are those of this run")


def judged(name: str) -> Client:
    """Run every check on a test case's target.

    Raises:
        unittest.SkipTest: its package is not installed.
    """
    module, _, case_name = name.rpartition(".")
    case: Any = getattr(import_module(module), case_name)
    sys.stderr.write(f"{case.title} …\n")
    skips = {method: why for name, why in case.skips.items() for method in METHODS[name]}
    outcomes = {
        name_of(check): Outcome(check, Status.SKIPPED, skips[check.method])
        if check.method in skips
        else case()._outcome_of(check)
        for check in ALL
    }
    return Client(case.title, case.code, case.expected_failures, outcomes)


def changed(told: Mapping[tuple[str, str], str], found: Mapping[tuple[str, str], str]) -> list[str]:
    """Return a line for each verdict that differs between the page and a run."""
    return [
        f"{client}: {check} {found.get((client, check), 'is not judged')} now; "
        f"the page says: {told.get((client, check), 'nothing')}"
        for client, check in dict.fromkeys([*told, *found])
        if told.get((client, check)) != found.get((client, check))
    ]


def _say(*lines: str, status: int = 0) -> int:
    sys.stdout.write("\n".join([*lines, ""]))
    return status


if __name__ == "__main__":
    sys.exit(main())
