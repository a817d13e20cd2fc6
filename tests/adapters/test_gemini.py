"""A format without an end marker: the wire knows that it has none."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import Gemini

from .gemini import GeminiModel


class TestGemini(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = Gemini()
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: requests.Session) -> GeminiModel:
        """Return the adapter, pointed at the kit's server."""
        return GeminiModel(
            base_url, api_key=self.api_key, session=client, idle_timeout=self.idle_timeout
        )
