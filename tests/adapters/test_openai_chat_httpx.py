"""An asynchronous adapter: the same test case, its base and its transport apart.

`OwnTransport` hands over no client: the adapter brings its own, and what the kit knows of its
connections is what the server sees.
"""

import json

from modeltest import AsyncModelContractTestCase, OwnTransport

from .openai_chat_httpx import AsyncOpenAIChatModel


class TestAsyncOpenAIChat(AsyncModelContractTestCase):
    """Runs the checks on the adapter."""

    transport = OwnTransport()
    # httpx imports its event loop's backend with the first request; a busy machine takes long.
    deadline = 5.0

    def new_model(self, base_url: str, client: None) -> AsyncOpenAIChatModel:  # noqa: ARG002
        """Return the adapter, pointed at the kit's server."""
        return AsyncOpenAIChatModel(base_url, api_key=self.api_key)

    def event(self, i: int) -> str:
        """Return the i-th event of a text response."""
        chunk = {"choices": [{"index": 0, "delta": {"content": f"word{i} "}}]}
        return f"data: {json.dumps(chunk)}\n\n"
