"""A small contract test, run in processes of its own; not named `test_…`: it is no test here."""

import unittest
from typing import Any

from modeltest import ModelContractTestCase
from modeltest.demo.acme import AcmeModel


class TestAcme(ModelContractTestCase):
    def new_model(self, base_url: str, client: Any) -> AcmeModel:
        return AcmeModel(base_url, client, self.api_key)

    def event(self, i: int) -> str:
        return f'data: {{"text": "word {i} "}}\n\n'


if __name__ == "__main__":
    unittest.main()
