"""A stream with a thread of its own must end it on every way out."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIChat

from .openai_chat_pump import PumpedOpenAIChatModel


class TestPumpedOpenAIChat(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OpenAIChat(reasoning="reasoning")

    def new_model(self, base_url: str, client: requests.Session) -> PumpedOpenAIChatModel:
        """Return the adapter, pointed at the kit's server."""
        return PumpedOpenAIChatModel(base_url, api_key=self.api_key, session=client)
