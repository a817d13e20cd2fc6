"""One run of the suites in a process of its own: `python -m tests.soak.one_run [TEST …]`.

Its last line of output is JSON: how many tests ran, and the id and text of each failure.
"""

from __future__ import annotations

import json
import sys
import unittest
from collections.abc import Sequence

from tests.soak.suites import examples, waiting


def main(names: Sequence[str]) -> None:
    """Run the tests named, or all the examples."""
    load = unittest.defaultTestLoader.loadTestsFromNames
    result = unittest.TestResult()
    waiting(load(names) if names else examples()).run(result)
    failed = [(test.id(), text) for test, text in (*result.failures, *result.errors)]
    failed += [(test.id(), "unexpected success") for test in result.unexpectedSuccesses]
    sys.stdout.write("\n" + json.dumps({"tests": result.testsRun, "failed": failed}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
