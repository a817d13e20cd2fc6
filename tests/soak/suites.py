"""The suites that are run again and again."""

from __future__ import annotations

import unittest
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
