"""`python -m modeltest`: a demo, and the list of checks."""

from __future__ import annotations

import argparse
import inspect
import io
import itertools
import sys
from collections.abc import Iterator, Sequence

from modeltest import demo
from modeltest.checks import ALL, IN_MEMORY
from modeltest.harness import Check
from modeltest.version import __version__


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
    listed.add_argument("--methods", action="store_true", help="list the test methods as well")
    listed.add_argument(
        "--parser", action="store_true", help="list what a stream parser is held to by itself"
    )
    listed.set_defaults(run=_checks)
    given = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every terminal knows a "…"
    return int(given.run(given))


def _demo(_: argparse.Namespace) -> int:
    return 0 if demo.run(sys.stdout) else 1


def _checks(given: argparse.Namespace) -> int:
    checks = IN_MEMORY if given.parser else ALL
    print("\n".join(_listing(checks, methods=given.methods)))
    return 0


def _listing(checks: Sequence[Check], *, methods: bool) -> Iterator[str]:
    """Yield a heading a group, and a line a check; below it, if asked for, its test method."""
    width = max(len(check.id) for check in checks)
    grouped = itertools.groupby(checks, key=lambda check: check.group)
    for number, (_, group) in enumerate(grouped):
        members = list(group)
        if number:
            yield ""
        yield (inspect.getdoc(inspect.getmodule(members[0].judge)) or "").partition("\n")[0]
        for check in members:
            needs = f" (needs {', '.join(check.needs)})" if check.needs else ""
            yield f"  {check.id:<{width}}  {check.level:<6}  {check.requirement}{needs}"
            if methods:
                yield f"  {'':<{width}}  {'':<6}  {check.method}"


if __name__ == "__main__":
    sys.exit(main())
