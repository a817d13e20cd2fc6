"""A first test case, for the adapter that comes with modeltest's demo."""

import requests

from modeltest import ModelContractTestCase
from modeltest.demo.acme import AcmeModel  # put your own adapter here


class TestAcme(ModelContractTestCase):
    """Runs the checks on the adapter."""

    def new_model(self, base_url: str, client: requests.Session) -> AcmeModel:
        """Return the adapter, pointed at the test server."""
        return AcmeModel(base_url, client, api_key=self.api_key)

    def event(self, i: int) -> str:
        """Return event number i of a text response, as the provider sends it."""
        return f'data: {{"text": "word {i} "}}\n\n'
