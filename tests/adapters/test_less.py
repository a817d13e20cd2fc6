"""Correct adapters that do less, or estimate: `lacks` says so, and nothing fails."""

import requests

from modeltest import ModelContractTestCase
from modeltest.wire import OpenAIChat

from .less import EstimatingModel, TextOnlyModel


class TestTextOnly(ModelContractTestCase):
    """Reads text alone; its test case says what it lacks."""

    wire = OpenAIChat(reasoning="reasoning_content")
    lacks = ("tools", "usage", "reasons", "reasoning", "images", "system", "history")
    strict = True

    def new_model(self, base_url: str, client: requests.Session) -> TextOnlyModel:
        """Return the adapter, pointed at the kit's server."""
        return TextOnlyModel(base_url, api_key=self.api_key, session=client)


class TestEstimating(ModelContractTestCase):
    """Its estimate is another one each time."""

    wire = OpenAIChat()
    strict = True

    def new_model(self, base_url: str, client: requests.Session) -> EstimatingModel:
        """Return the adapter, pointed at the kit's server."""
        return EstimatingModel(base_url, api_key=self.api_key, session=client)
