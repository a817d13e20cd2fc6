"""`python -m tests.benchmarks [NAME …] [--quick]`: print what the kit costs."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from typing import TextIO

from tests.benchmarks import cpu, original, overhead, reader, start_stop, suite, verdict

BENCHMARKS = {
    "start-stop": start_stop.tables,
    "verdict": verdict.tables,
    "original": original.tables,
    "suite": suite.tables,
    "cpu": cpu.tables,
    "overhead": overhead.tables,
    "reader": reader.tables,
}


def main(arguments: Sequence[str] | None = None, out: TextIO = sys.stdout) -> None:
    """Run the benchmarks named, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="What the kit costs, beside what it is compared with, measured in turns.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="a few rounds: to see it work")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name}; there are {', '.join(BENCHMARKS)}")
    out.write(f"Python {platform.python_version()} on {platform.system()}\n")
    for name in options.names or BENCHMARKS:
        for table in BENCHMARKS[name](quick=options.quick):
            out.write(f"\n{table}\n")
            out.flush()


if __name__ == "__main__":
    main()
