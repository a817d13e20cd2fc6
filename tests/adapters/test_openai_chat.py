"""The smallest test case: how the adapter is made, and one event of its provider."""

import json

import requests

from modeltest import ModelContractTestCase

from .openai_chat import OpenAIChatModel


class TestOpenAIChat(ModelContractTestCase):
    """Holds the adapter to the contract."""

    def new_model(self, base_url: str, client: requests.Session) -> OpenAIChatModel:
        """Return the adapter, pointed at the kit's server."""
        return OpenAIChatModel(base_url, api_key=self.api_key, session=client)

    def event(self, i: int) -> str:
        """Return the i-th event of a text response."""
        chunk = {"choices": [{"index": 0, "delta": {"content": f"word{i} "}}]}
        return f"data: {json.dumps(chunk)}\n\n"
