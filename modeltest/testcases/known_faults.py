"""The `expected_failures` of a run, ready to be pasted: MODELTEST_KNOWN_FAULTS=print."""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import TYPE_CHECKING

from modeltest.text import in_one_line

if TYPE_CHECKING:
    from modeltest.harness import Check

VARIABLE = "MODELTEST_KNOWN_FAULTS"
"""The environment variable; its value is "print"."""

_found: dict[str, dict[str, str]] = {}
_SHOWN = 120
"""Characters of a failure that are proposed as the reason."""


def note_fault(cls: type, check: Check, name: str, text: str, reason: str | None) -> None:
    """Note that a check fails, if that is asked for; it is printed at the end of the process.

    Args:
        cls: the test case's class.
        check: which check.
        name: what it is called in `expected_failures`, alone.
        text: its failure.
        reason: the author's, if it is a known fault already.
    """
    if os.environ.get(VARIABLE) != "print":
        return
    if not _found:
        atexit.register(_print)
    first, second, *_ = [*text.split("\n"), ""]
    # Of several cases the first line only says how many.
    said = second.removeprefix("- ") if second.startswith("- ") else first
    said = said.removeprefix(f"{check.id}: ").rstrip(".")
    faults = _found.setdefault(f"{cls.__module__}.{cls.__qualname__}", {})
    faults[name] = reason or in_one_line(said, _SHOWN)


def listing() -> str:
    """Return what was noted: an `expected_failures` for each class."""
    return "\n".join(
        "\n".join(
            [
                f"# {owner}",
                "expected_failures = {",
                *(f"    {_quoted(name)}: {_quoted(why)}," for name, why in faults.items()),
                "}",
            ]
        )
        for owner, faults in _found.items()
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _print() -> None:
    """Print it where no runner captures it any more."""
    stream = sys.__stderr__ or sys.stderr
    stream.write(f"\n{listing()}\n")
