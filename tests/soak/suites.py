"""The suites that are run again and again."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from pathlib import Path

import requests

from modeltest import ModelContractTestCase
from modeltest.demo.acme import AcmeModel

ROOT = Path(__file__).parents[2]


class TestAcme(ModelContractTestCase):
    """The demo's adapter, whose test case exists only while the demo runs."""

    strict = True

    def new_model(self, base_url: str, client: requests.Session) -> AcmeModel:
        return AcmeModel(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        return f'data: {{"text": "word {i} "}}\n\n'


def acme() -> unittest.TestSuite:
    """Return the demo's suite."""
    return unittest.TestLoader().loadTestsFromTestCase(TestAcme)


def examples() -> unittest.TestSuite:
    """Return the suites of docs/examples, as discovery finds them, and the demo's."""
    found = unittest.TestLoader().discover(str(ROOT / "docs" / "examples"), top_level_dir=str(ROOT))
    return unittest.TestSuite([found, acme()])


LEFT_OUT = (
    "test_every_prefix_is_an_error_or_the_same_turn",
    "test_any_bytes_are_an_event_or_an_error",
    "docs.examples.test_sse_reader.",
)
"""Parts of the names of tests that wait for nothing: a busy machine only makes them longer."""


def waiting(tests: unittest.TestSuite) -> unittest.TestSuite:
    """Return those tests of a suite whose verdict depends on what happens in time."""
    kept = (test for test in each(tests) if not any(part in test.id() for part in LEFT_OUT))
    return unittest.TestSuite(kept)


def each(tests: unittest.TestSuite | unittest.TestCase) -> Iterator[unittest.TestCase]:
    """Yield the single tests of a suite."""
    if isinstance(tests, unittest.TestCase):
        yield tests
        return
    for test in tests:
        yield from each(test)
