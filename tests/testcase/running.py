"""Running test cases inside a test, and in processes of their own."""

import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from modeltest import ModelContractTestCase
from modeltest.demo.acme import AcmeModel

ROOT = Path(__file__).parents[2]
PATIENCE = 120
"""Seconds after which a process counts as hanging; it needs few."""
SET_UP = "test_adapter_is_set_up"


def new_model(base_url: str, client: Any) -> AcmeModel:
    return AcmeModel(base_url, client, "key")


def event(i: int) -> str:
    return f'data: {{"text": "word {i} "}}\n\n'


def acme(**attributes: Any) -> type[ModelContractTestCase]:
    """Return a test case of an adapter that keeps the contract, with these attributes."""
    own = {"new_model": staticmethod(new_model), "event": staticmethod(event), **attributes}
    return case(**own)


def case(**attributes: Any) -> type[ModelContractTestCase]:
    """Return a test case with these attributes and no others."""
    return type("TestAcme", (ModelContractTestCase,), attributes)


def run(tests: type[unittest.TestCase], *names: str) -> unittest.TestResult:
    """Run test methods as a suite does, all of them unless some are named."""
    chosen = names or unittest.defaultTestLoader.getTestCaseNames(tests)
    result = unittest.TestResult()
    unittest.TestSuite(map(tests, chosen)).run(result)
    return result


def text_of(result: unittest.TestResult) -> str:
    """Return the text of the only failure."""
    assert not result.errors, result.errors[0][1]
    ((_, text),) = result.failures
    return text


def python(
    *arguments: str, cwd: Path = ROOT, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own; its stdout holds stderr too.

    Args:
        arguments: of the interpreter.
        cwd: where it runs.
        environment: variables set there; None removes one.
    """
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={name: value for name, value in variables.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
