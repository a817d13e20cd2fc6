"""Lines of JSON in place of server-sent events: the checks follow the wire's framing."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OllamaChat

from .ollama_chat import OllamaChatModel


class TestOllamaChat(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OllamaChat()

    def new_model(self, base_url: str, client: requests.Session) -> OllamaChatModel:
        """Return the adapter, pointed at the kit's server."""
        return OllamaChatModel(base_url, api_key=self.api_key, session=client)
