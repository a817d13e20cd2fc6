"""Judging a turn that must fail."""

from __future__ import annotations

from modeltest.backend import Progress
from modeltest.checks.case import Case, shown
from modeltest.checks.failure import Evidence, Failure, count
from modeltest.consumer import Log
from modeltest.contract import Finish, ModelError, ProtocolError


def expect_refused(
    case: Case, what: str, progress: Progress | None = None, *evidence: Evidence
) -> None:
    """Read the turn, and expect that it fails as `assemble` reads it.

    The adapter raises its `model_error`, or ends without a Finish. What it gave before the
    cut does not matter.

    Raises:
        Failure: a Finish came, or an error of another type.
    """
    expect_refusal(case, case.read(progress), what, *evidence)


def expect_refusal(case: Case, log: Log, what: str, *evidence: Evidence) -> None:
    """Expect the same of a turn that was read already.

    Raises:
        Failure: a Finish came, or an error of another type; with `evidence`.
    """
    before = count(len(log.events), "event")
    for event in log.events:
        if isinstance(event, Finish):
            raise Failure(
                f"{what} was taken for a finished answer: got {before}, among them "
                f"Finish(reason={str(event.reason)!r}); expected an error, or an end without a "
                "Finish.",
                evidence,
            )
    if log.error is not None and not isinstance(log.error, refusals(case)):
        raise Failure(
            f"{what} made the adapter raise, after {before}, {shown(log.error)}; expected "
            f"{_names(case.subject.model_error)}, which is what an agent loop catches.",
            (*evidence, Evidence("raised", "\n".join(log.raised_at))),
        )


def refusals(case: Case) -> tuple[type[BaseException], ...]:
    """Return the error types by which a turn may fail: the adapter's own, and the contract's."""
    given = case.subject.model_error
    own = given if isinstance(given, tuple) else (given,)
    return (*own, ModelError, ProtocolError)


def _names(types: type[BaseException] | tuple[type[BaseException], ...]) -> str:
    given = types if isinstance(types, tuple) else (types,)
    return " or ".join(error.__name__ for error in given)
