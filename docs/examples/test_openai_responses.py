"""Named events about the items of a response, over urllib3."""

import urllib3

from modeltest import ModelContractTestCase, Urllib3Transport
from modeltest.wire import OpenAIResponses

from .openai_responses import OpenAIResponsesModel


class TestOpenAIResponses(ModelContractTestCase):
    """Holds the adapter to the contract."""

    transport = Urllib3Transport()
    wire = OpenAIResponses()
    idle_timeout = 5.0

    def new_model(self, base_url: str, client: urllib3.PoolManager) -> OpenAIResponsesModel:
        """Return the adapter, pointed at the kit's server."""
        return OpenAIResponsesModel(
            base_url, api_key=self.api_key, pool=client, idle_timeout=self.idle_timeout
        )
