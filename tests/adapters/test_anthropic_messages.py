"""An adapter over urllib3: the transport says which client it is handed."""

import urllib3

from modeltest import ModelContractTestCase, Urllib3Transport
from modeltest.wire import AnthropicMessages

from .anthropic_messages import AnthropicMessagesModel


class TestAnthropicMessages(ModelContractTestCase):
    """Holds the adapter to the contract."""

    transport = Urllib3Transport()
    wire = AnthropicMessages()
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: urllib3.PoolManager) -> AnthropicMessagesModel:
        """Return the adapter, pointed at the kit's server."""
        return AnthropicMessagesModel(
            base_url, api_key=self.api_key, pool=client, idle_timeout=self.idle_timeout
        )
