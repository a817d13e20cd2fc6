"""The test cases that the demo runs; it prints the first one as it stands here."""

import requests

from modeltest.demo.acme import AcmeModel
from modeltest.demo.naive import NaiveModel
from modeltest.testcases import ModelContractTestCase


class TestAcme(ModelContractTestCase):
    """Holds the careful adapter to the contract."""

    def new_model(self, base_url: str, client: requests.Session) -> AcmeModel:
        """Return the adapter, pointed at the kit's server."""
        return AcmeModel(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        """Return the i-th event of a text response."""
        return f'data: {{"text": "word {i} "}}\n\n'


class TestNaive(ModelContractTestCase):
    """Holds the adapter that is usually written first to the same contract."""

    event = TestAcme.event

    def new_model(self, base_url: str, client: requests.Session) -> NaiveModel:
        """Return the adapter, pointed at the kit's server."""
        return NaiveModel(base_url, client, self.api_key)
