"""modeltest holds streaming LLM model adapters to a contract.

Subclass `ModelContractTestCase`, give `new_model` and `event`, run `python -m unittest`.
"""

from modeltest import interface as _interface
from modeltest.consumer import Assembler, Turn, assemble, check_finish, generate
from modeltest.interface import *  # noqa: F403 - the contract's __all__ is public here too
from modeltest.reader import (
    SSEReaderTestCase,
    SSEResult,
    as_chunks,
    as_lines,
    as_requests_response,
    as_urllib3_response,
    check_sse_prefix,
    check_sse_prefixes,
    read_sse,
)
from modeltest.testcases import AsyncModelContractTestCase, ContractWarning, ModelContractTestCase
from modeltest.transports import OwnTransport, RequestsTransport, Urllib3Transport

__version__ = "0.1.0"

__all__ = [  # noqa: PLE0604 - names from the contract's own list
    *_interface.__all__,
    "Assembler",
    "Turn",
    "assemble",
    "check_finish",
    "generate",
    "AsyncModelContractTestCase",
    "ContractWarning",
    "ModelContractTestCase",
    "OwnTransport",
    "RequestsTransport",
    "SSEReaderTestCase",
    "SSEResult",
    "Urllib3Transport",
    "__version__",
    "as_chunks",
    "as_lines",
    "as_requests_response",
    "as_urllib3_response",
    "check_sse_prefix",
    "check_sse_prefixes",
    "read_sse",
]
