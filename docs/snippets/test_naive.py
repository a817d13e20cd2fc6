"""The same adapter, tested with modeltest."""

import requests

from modeltest import ModelContractTestCase
from modeltest.demo.naive import NaiveModel


class TestNaive(ModelContractTestCase):
    """Runs the checks on the naive adapter."""

    def new_model(self, base_url: str, client: requests.Session) -> NaiveModel:
        """Return the adapter, pointed at the test server."""
        return NaiveModel(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        """Return event number i of a text response, as the provider sends it."""
        return f'data: {{"text": "word {i} "}}\n\n'
