"""An asynchronous adapter: the same test case, but for its base and its transport.

With `OwnTransport` it brings its own client, and the kit judges by what the server sees.
"""

from modeltest import AsyncModelContractTestCase, OwnTransport
from modeltest.wire import OpenAIChat

from .openai_chat_httpx import AsyncOpenAIChat
from .test_other_providers import ExampleHooks


class TestAsyncOpenAIChat(ExampleHooks, AsyncModelContractTestCase):
    """Holds the adapter to the contract."""

    wire = OpenAIChat(reasoning="reasoning_content")
    transport = OwnTransport()
    idle_timeout = 0.15
    deadline = 5.0  # httpx imports its event loop's backend with the first request

    def new_model(self, base_url: str, client: None) -> AsyncOpenAIChat:  # noqa: ARG002
        """Return the adapter, pointed at the kit's server."""
        return AsyncOpenAIChat(base_url, self.api_key, idle_timeout=self.idle_timeout)
