"""A stream object is closed from another thread while it waits; the kit sees that it can be."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIChat

from .openai_chat_stream import ClosableOpenAIChatModel


class TestClosableOpenAIChat(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OpenAIChat(reasoning="reasoning")

    def new_model(self, base_url: str, client: requests.Session) -> ClosableOpenAIChatModel:
        """Return the adapter, pointed at the kit's server."""
        return ClosableOpenAIChatModel(base_url, api_key=self.api_key, session=client)
