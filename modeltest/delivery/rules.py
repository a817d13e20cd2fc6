"""How a broken rule is reported: the rule, what came, where, and how to fix it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from modeltest.harness import Failure
from modeltest.threads import shown

if TYPE_CHECKING:
    from modeltest.harness import Evidence


__unittest = True  # keeps this module's lines out of a failure's traceback

FIXES = {
    "reader/iterable": "let stream_sse(body) be a generator function, or return an iterator",
    "reader/events": "yield TextDelta, ReasoningDelta, ToolCallDelta and Finish, their texts str",
    "reader/one-finish": "remember the reason when it comes; give the one Finish when the turn is "
    "over, and return",
    "reader/finish": "give the provider's own word as Finish.raw, totals that are not negative, "
    "and discarded left alone",
    "reader/error-last": "let the error end the iterator: raise it out of a generator, or "
    "remember in __next__ that it was raised",
    "reader/end-last": "once __next__ has raised StopIteration, let it always do so",
    "reader/error-type": "raise ModelError or a subclass of it, `from` what was caught; an agent "
    "loop catches nothing else",
    "reader/ends": "take b'' from a read for the end of the body, and return or raise",
    "reader/prefix": "give the Finish only once the provider's own end of turn was read whole; "
    "what ends before it is an error",
}
"""Rule → what to do about it."""


_LINES = 3
"""Lines of a traceback that a failure shows."""

_KIT_FILES = {str(Path(__file__).with_name(name)) for name in ("files.py", "parser.py")}


def broken(rule: str, statement: str, *evidence: Evidence) -> Failure:
    """Return the verdict that `rule` is broken, with how to fix it."""
    return Failure(f"{rule}: {statement}", evidence, fix=FIXES[rule])


@contextmanager
def as_assertion() -> Iterator[None]:
    """Turn a verdict into an AssertionError, with the reader's own exception as its cause."""
    try:
        yield
    except Failure as failure:
        raise AssertionError(failure.with_fix) from failure.__cause__


def raised(error: BaseException) -> str:
    """Return an error, and the lines of the reader that it passed through."""
    return f"{shown(error)}\n{lines_of(error)}"


def lines_of(error: BaseException) -> str:
    """Return the lines that an exception passed through, the innermost few, innermost last."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename not in _KIT_FILES]
    lines = [f"at {frame.filename}:{frame.lineno}: {frame.line}" for frame in frames]
    return "\n".join(lines[-_LINES:]) or "(no line of its own)"
