"""Runs the contract on published clients and records what they do: `python -m tests.real.report`.

It writes `outcomes.csv`, of which `python -m tests.real.page` makes the pages. Name packages to run
those alone. `--check` writes nothing, and exits with 1 when the record is not what a run gives;
`--print` writes nothing but the failure texts, to the terminal.
"""

from __future__ import annotations

import argparse
import platform
import sys
import unittest
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

import modeltest
from modeltest.checks import ALL, METHODS, name_of
from modeltest.harness import Outcome, Status
from tests.real.quick import quick_and_quiet
from tests.real.record import FAILS, PASSES, RECORD, SKIPPED, WARNS, Client, read, written

CASES = {
    "openai, tutorial loop": "tests.real.test_openai.TestNaiveOpenAI",
    "openai, retrying": "tests.real.test_openai.TestRetryingOpenAI",
    "openai, careful": "tests.real.test_openai.TestCarefulOpenAI",
    "anthropic, tutorial loop": "tests.real.test_anthropic.TestNaiveAnthropic",
    "anthropic, retrying": "tests.real.test_anthropic.TestRetryingAnthropic",
    "anthropic, careful": "tests.real.test_anthropic.TestCarefulAnthropic",
    "google-genai, tutorial loop": "tests.real.test_google_genai.TestNaiveGenAI",
    "mistralai, tutorial loop": "tests.real.test_mistralai.TestNaiveMistral",
    "cohere, tutorial loop": "tests.real.test_cohere.TestNaiveCohere",
    "ollama, tutorial loop": "tests.real.test_ollama.TestNaiveOllama",
    "groq, tutorial loop": "tests.real.test_groq.TestNaiveGroq",
    "huggingface_hub, tutorial loop": "tests.real.test_huggingface_hub.TestNaiveHuggingFace",
    "litellm, tutorial loop": "tests.real.test_litellm.TestNaiveLiteLLM",
}
"""Adapter → its test case, in the order of the pages."""

_OVER_HTTPX = ("cohere", "ollama", "groq")  # the others use httpx2

_WORDS = {
    Status.PASSED: PASSES,
    Status.FAILED: FAILS,
    Status.WARNED: WARNS,
    Status.SKIPPED: SKIPPED,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the clients; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.real.report", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare a run with the record")
    what.add_argument("--print", action="store_true", help="print the failure texts")
    known = list(dict.fromkeys(title.partition(", ")[0] for title in CASES))
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(known)}; all if none is named")
    options = parser.parse_args(arguments)
    if unknown := set(options.packages) - set(known):
        parser.error(f"no such package: {', '.join(sorted(unknown))}")
    titles = [t for t in CASES if t.partition(", ")[0] in (options.packages or known)]
    try:
        with quick_and_quiet():
            runs = {title: outcomes(title) for title in titles}
    except unittest.SkipTest as missing:
        return _say(f"no run: {missing}", status=2)
    if options.print:
        return _say(*(text for title, run in runs.items() for text in failure_texts(title, run)))
    return _kept([client_of(*run) for run in runs.items()], check=options.check)


def outcomes(title: str) -> dict[str, Outcome]:
    """Run every check on an adapter; return check → outcome.

    Raises:
        unittest.SkipTest: its package is not installed.
    """
    module, _, name = CASES[title].rpartition(".")
    case: Any = getattr(import_module(module), name)
    sys.stderr.write(f"{title} …\n")
    skips = {method: why for name, why in case.skips.items() for method in METHODS[name]}
    return {
        name_of(check): Outcome(check, Status.SKIPPED, skips[check.method])
        if check.method in skips
        else case().outcome_of(check)
        for check in ALL
    }


def client_of(title: str, run: Mapping[str, Outcome]) -> Client:
    """Return what is recorded of a run."""
    package = title.partition(", ")[0]
    library = "httpx" if package in _OVER_HTTPX else "httpx2"
    ran = (
        f"{package} {version(package)} over {library} {version(library)}, modeltest "
        f"{modeltest.__version__}, Python {platform.python_version()}"
    )
    return Client(title, ran, {check: _WORDS[outcome.status] for check, outcome in run.items()})


def failure_texts(title: str, run: Mapping[str, Outcome]) -> list[str]:
    """Return the failures of a run in full."""
    broken = [o for o in run.values() if o.status in (Status.FAILED, Status.WARNED)]
    return [f"{title}: {len(broken)} failed or warned", *(f"\n{o.text}" for o in broken)]


def changed(before: Iterable[Client], now: Iterable[Client]) -> list[str]:
    """Return a line for each outcome of `now` that differs from the record."""
    known = {client.title: client.outcomes for client in before}
    return [
        f"{client.title}: {check} {client.outcomes.get(check, 'is gone')}; the record says: "
        f"{known.get(client.title, {}).get(check, 'nothing')}"
        for client in now
        for check in dict.fromkeys([*known.get(client.title, {}), *client.outcomes])
        if client.outcomes.get(check) != known.get(client.title, {}).get(check)
    ]


def _kept(now: Sequence[Client], *, check: bool) -> int:
    """Compare a run with the record, or write it there."""
    before = read(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else []
    changes = changed(before, now)
    if check:
        return _say(*(changes or ["the record is what this run gives"]), status=bool(changes))
    found = {client.title: client for client in [*before, *now]}
    kept = [found[title] for title in CASES if title in found]
    RECORD.write_text(written(kept), encoding="utf-8")
    return _say(*changes, f"wrote {RECORD.name}; now run `python -m tests.real.page`")


def _say(*lines: str, status: int = 0) -> int:
    sys.stdout.write("\n".join([*lines, ""]))
    return status


if __name__ == "__main__":
    sys.exit(main())
