"""The contract as unittest test cases."""

from modeltest.testcases.adapter import AsyncModelContractTestCase, ModelContractTestCase
from modeltest.testcases.parser import SSEReaderTestCase

__all__ = [
    "AsyncModelContractTestCase",
    "ModelContractTestCase",
    "SSEReaderTestCase",
]
