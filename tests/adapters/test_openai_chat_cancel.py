"""A `stream` that takes `cancel` is stopped by the token; the kit looks at its signature."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIChat

from .openai_chat_cancel import CancellableOpenAIChatModel


class TestCancellableOpenAIChat(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OpenAIChat(reasoning="reasoning")
    expected_failures = {
        "release/blocked [SHOULD]": "before the headers, requests gives no hold on the connection",
    }

    def new_model(self, base_url: str, client: requests.Session) -> CancellableOpenAIChatModel:
        """Return the adapter, pointed at the kit's server."""
        return CancellableOpenAIChatModel(base_url, api_key=self.api_key, session=client)
