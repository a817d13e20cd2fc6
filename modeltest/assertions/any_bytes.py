"""Judging what comes of bytes without sense: every kind of fault once, with bytes that show it."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from modeltest.assertions.refusal import expect_known_error
from modeltest.assertions.report import quoted
from modeltest.harness import Evidence, Failure
from modeltest.shrinking import smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modeltest.harness import Declares, Transcript

_Kind = tuple[str, str]

_MOST = 5
"""Kinds of fault after which no more bodies are read."""
_SHOWN = 1000
"""Characters of a body that a failure shows."""


def faults_of(
    declares: Declares, read: Callable[[bytes], Transcript], bodies: Iterable[bytes]
) -> Iterator[tuple[str, Failure]]:
    """Yield each kind of fault that comes of `bodies`, and what to call it.

    Each body must give events or a declared error, and come to an end. Faults are of one kind
    where the same type of error comes from the same line. The body of each is made small.

    Args:
        declares: by which errors a turn may fail.
        read: lets the adapter read a body.
        bodies: what is read.

    Raises:
        Failure: the adapter did not come back from one.
    """
    found: set[_Kind] = set()
    for data in bodies:
        failure, kind = _judged(declares, read, data)
        if failure is None or kind in found:
            continue
        found.add(kind)
        yield " ".join(filter(None, kind)), _made_small(declares, read, data, kind) or failure
        if len(found) == _MOST:
            return


def _made_small(
    declares: Declares, read: Callable[[bytes], Transcript], data: bytes, kind: _Kind
) -> Failure | None:
    """Return what the smallest part of a body gives that fails in the same way; None if none."""

    def fails_alike(part: bytes) -> bool:
        return _judged(declares, read, part)[1] == kind

    failure, found = _judged(declares, read, smallest(data, fails_alike))
    return failure if found == kind else None


def _judged(
    declares: Declares, read: Callable[[bytes], Transcript], data: bytes
) -> tuple[Failure | None, _Kind]:
    """Return what is wrong with the reading of a body, if anything, and of which kind that is.

    Raises:
        Failure: the adapter hung; no other body is read after that.
    """
    try:
        log = read(data)
        if log.error is not None:
            expect_known_error(declares, log, log.error, "some bytes", ())
    except Failure as failure:
        kind = _kind_of(failure)
        shown = failure.with_evidence((Evidence("bytes", quoted(data, _SHOWN)),))
        if failure.hung:
            raise shown from None
        return shown, kind
    return None, ("", "")


def _kind_of(failure: Failure) -> _Kind:
    """Return the type of the error and the line it comes from; else what the statement says."""
    raised = next((one.text for one in failure.evidence if one.label == "raised"), "")
    error = re.search(r"\b(?:raise, after \d+ events?, |raised )([\w.]+)", failure.statement)
    if error is None:
        return re.sub(r"b?(['\"]).*?\1|\d+", "…", failure.statement)[:_NAMED], ""
    places = re.findall(r"^(?:at )?(\S+:\d+)\b", raised, re.MULTILINE)
    # The adapter's line says more than that of the library it calls, which lies elsewhere.
    own = [place for place in places if not PurePath(place).is_absolute()] or places
    return error[1], f"at {'/'.join(PurePath(own[-1]).parts[-2:])}" if own else ""


_NAMED = 80
"""Characters that tell one kind from another, where no error does."""
