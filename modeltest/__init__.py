"""modeltest holds streaming LLM model adapters to a contract.

Subclass `ModelContractTestCase`, give `new_model` and `event`, run `python -m unittest`.
"""

from modeltest import contract as _contract
from modeltest.contract import *  # noqa: F403 - the contract's __all__ is public here too
from modeltest.testcase import (
    AsyncModelContractTestCase,
    ContractWarning,
    ModelContractTestCase,
)
from modeltest.transports import OwnTransport, RequestsTransport, Urllib3Transport

__version__ = "0.1.0"

__all__ = [  # noqa: PLE0604 - names from the contract's own list
    *_contract.__all__,
    "AsyncModelContractTestCase",
    "ContractWarning",
    "ModelContractTestCase",
    "OwnTransport",
    "RequestsTransport",
    "Urllib3Transport",
    "__version__",
]
