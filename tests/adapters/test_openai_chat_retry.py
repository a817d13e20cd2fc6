"""With `retries` the kit lets an adapter send as many more requests, and sees when it does."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIChat

from .openai_chat_retry import RetryingOpenAIChatModel


class TestRetryingOpenAIChat(ModelContractTestCase):
    """Holds the adapter to the contract; what it waits for unasked is short here."""

    wire = OpenAIChat(reasoning="reasoning")
    retries = 2
    idle_timeout = 0.15
    expected_failures = {
        "release/blocked [SHOULD]": "before the headers, requests gives no hold on the connection",
    }

    def new_model(self, base_url: str, client: requests.Session) -> RetryingOpenAIChatModel:
        """Return the adapter, pointed at the kit's server."""
        return RetryingOpenAIChatModel(
            base_url,
            api_key=self.api_key,
            session=client,
            idle_timeout=self.idle_timeout,
            retries=self.retries,
            backoff=0.01,
        )
