"""With a wire format the kit can send whole turns: tool calls, finish reasons, usage, errors."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIChat

from .openai_chat import OpenAIChatModel


class TestOpenAIChatWire(ModelContractTestCase):
    """Needs no `event`: the wire format includes it."""

    wire = OpenAIChat(reasoning="reasoning_content")
    idle_timeout = 0.15

    def new_model(self, base_url: str, client: requests.Session) -> OpenAIChatModel:
        """Return the adapter, pointed at the kit's server."""
        return OpenAIChatModel(
            base_url, api_key=self.api_key, session=client, idle_timeout=self.idle_timeout
        )
