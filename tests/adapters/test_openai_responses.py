"""Named events about the items of a response."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIResponses

from .openai_responses import OpenAIResponsesModel


class TestOpenAIResponses(ModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OpenAIResponses()
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: requests.Session) -> OpenAIResponsesModel:
        """Return the adapter, pointed at the kit's server."""
        return OpenAIResponsesModel(
            base_url, api_key=self.api_key, session=client, idle_timeout=self.idle_timeout
        )
