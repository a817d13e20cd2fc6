"""`python -m modeltest demo`: the contract on a careful adapter and on a naive one."""

from __future__ import annotations

import sys
import unittest
from typing import TextIO

from modeltest.demo.acme import AcmeModel
from modeltest.demo.naive import NaiveModel
from modeltest.testcase import ModelContractTestCase

INTRODUCTION = """\
{title}

    class {name}(ModelContractTestCase):
        def new_model(self, base_url, client):
            return {model}(base_url, client, self.api_key)

        def event(self, i):
            return f'data: {{{{"text": "word {{i}} "}}}}\\n\\n'
"""


def run(out: TextIO = sys.stdout) -> bool:
    """Run the demo, and write it to `out`.

    Returns:
        Whether it went as announced: the careful adapter passes, the naive one fails.
    """
    careful = _run(out, "1. A careful adapter (modeltest/demo/acme.py)", "TestAcme", AcmeModel)
    naive = _run(
        out,
        "2. The adapter that is usually written first (modeltest/demo/naive.py)",
        "TestNaive",
        NaiveModel,
    )
    as_announced = careful.wasSuccessful() and not naive.wasSuccessful() and not naive.errors
    if as_announced:
        out.write(
            f"As announced: the careful adapter passes, the naive one fails {len(naive.failures)} "
            f"of {naive.testsRun} tests.\n"
        )
    return as_announced


def _run(
    out: TextIO, title: str, name: str, model: type[AcmeModel | NaiveModel]
) -> unittest.TestResult:
    out.write(INTRODUCTION.format(title=title, name=name, model=model.__name__) + "\n")
    out.flush()

    def new_model(self: ModelContractTestCase, base_url: str, client: object) -> object:
        return model(base_url, client, self.api_key)  # type: ignore[arg-type]

    def event(index: int) -> str:
        return f'data: {{"text": "word {index} "}}\n\n'

    case = type(
        name,
        (ModelContractTestCase,),
        {
            "__module__": "demo",
            "new_model": new_model,
            "event": staticmethod(event),
            "strict": True,
        },
    )
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    result = unittest.TextTestRunner(out, verbosity=2, warnings="default").run(suite)
    out.write("\n")
    return result
