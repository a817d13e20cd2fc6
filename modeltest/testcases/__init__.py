"""The contract as unittest test cases."""

from modeltest.testcases.adapter import (
    AsyncModelContractTestCase,
    ContractWarning,
    ModelContractTestCase,
)
from modeltest.testcases.attach import (
    attach,
    attach_rule,
    judging_method,
    reasons_of,
    warn_at,
    warn_of_slips,
)
from modeltest.testcases.hooks import hook
from modeltest.testcases.preflight import deadline_scale

__all__ = [
    "AsyncModelContractTestCase",
    "ContractWarning",
    "ModelContractTestCase",
    "attach",
    "attach_rule",
    "deadline_scale",
    "hook",
    "judging_method",
    "reasons_of",
    "warn_at",
    "warn_of_slips",
]
