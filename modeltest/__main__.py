"""`python -m modeltest`: a demo, and the list of checks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from modeltest import __version__, demo
from modeltest.checks import ALL


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m modeltest",
        description="Hold streaming LLM model adapters to a contract.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    shown = commands.add_parser("demo", help="run the contract on a good and a bad adapter")
    shown.set_defaults(run=_demo)
    listed = commands.add_parser("checks", help="list every check: id, level, requirement")
    listed.set_defaults(run=_checks)
    return int(parser.parse_args(arguments).run())


def _demo() -> int:
    return 0 if demo.run(sys.stdout) else 1


def _checks() -> int:
    width = max(len(check.id) for check in ALL)
    for check in ALL:
        print(f"{check.id:<{width}}  {check.level:<6}  {check.requirement}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
