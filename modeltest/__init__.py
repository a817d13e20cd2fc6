"""modeltest holds streaming LLM model adapters to a contract.

Subclass `ModelContractTestCase`, give `new_model` and `event`, run `python -m unittest`.
"""

from modeltest import interface as _interface
from modeltest.assertions import Assembler, Turn, assemble, check_finish, generate
from modeltest.delivery import (
    SSEResult,
    as_chunks,
    as_lines,
    as_requests_response,
    as_urllib3_response,
    check_sse_prefix,
    check_sse_prefixes,
    read_sse,
)
from modeltest.harness import ContractWarning
from modeltest.interface import *  # noqa: F403 - the contract's __all__ is public here too
from modeltest.testcases import (
    AsyncModelContractTestCase,
    ModelContractTestCase,
    SSEReaderTestCase,
)
from modeltest.transports import OwnTransport, RequestsTransport, Urllib3Transport
from modeltest.version import __version__

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
