"""Judging a turn that must fail."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from modeltest.harness import Evidence, Failure, count
from modeltest.interface import Finish, ModelError, ProtocolError
from modeltest.threads import all_said, shown

if TYPE_CHECKING:
    from modeltest.harness import Declares, Transcript


def expect_refusal(declares: Declares, log: Transcript, what: str, *evidence: Evidence) -> None:
    """Expect that a turn fails as `assemble` reads it.

    The adapter raises its `model_error`, or ends without a Finish. What it gave before the
    cut does not matter.

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
    if log.error is not None:
        expect_known_error(declares, log, log.error, what, evidence)


def expect_error(
    declares: Declares, log: Transcript, what: str, *evidence: Evidence
) -> BaseException:
    """Expect that the turn, which was read already, raised an error that an agent loop knows.

    Returns:
        The error.

    Raises:
        Failure: it raised none, or one of another type; with `evidence`.
    """
    came = count(len(log.events), "event")
    if log.error is None:
        finishes = [event for event in log.events if isinstance(event, Finish)]
        end = f"among them {finishes[0]!r}" if finishes else "then the end"
        raise Failure(f"{what} raised nothing: {came}, {end}; expected an error.", evidence)
    expect_known_error(declares, log, log.error, what, evidence)
    return log.error


def expect_said(
    error: BaseException,
    words: Iterable[str],
    what: str,
    *evidence: Evidence,
    without: Iterable[str] = (),
) -> None:
    """Expect that `error` holds all `words`, which say `what`: in its text, or as an attribute.

    What stands in one of the texts `without` does not count.

    Raises:
        Failure: some are missing; with `evidence`.
    """
    said = _spaced(all_said(error))
    for other in without:
        said = said.replace(_spaced(other), "")
    missing = [word for word in words if _spaced(word) not in said]
    if missing:
        raise Failure(
            f"expected an error that says {what}, {' and '.join(map(repr, missing))}; got "
            f"{shown(error)}.",
            evidence,
        )


def _spaced(text: str) -> str:
    """Return a text with a space for all that is white: an error may be wrapped."""
    return " ".join(text.split())


def expect_known_error(
    declares: Declares,
    log: Transcript,
    error: BaseException,
    what: str,
    evidence: tuple[Evidence, ...],
) -> None:
    """Expect that an error is of a type that an agent loop catches.

    Raises:
        Failure: with `evidence`, and where it was raised.
    """
    if not isinstance(error, declared_errors(declares)):
        raise Failure(
            f"{what} made the adapter raise, after {count(len(log.events), 'event')}, "
            f"{shown(error)}; expected {names_of(declares.model_error)}, which is what an "
            "agent loop catches.",
            (*evidence, Evidence("raised", "\n".join(log.raised_at))),
            fix=_NAME_IT if _is_its_own(error, declares) else "",
        )


_NAME_IT = (
    "derive the adapter's errors from modeltest's ModelError, or name them in the test case: "
    "`model_error = …`"
)


def _is_its_own(error: BaseException, declares: Declares) -> bool:
    """Tell whether an error's type comes from the package that the adapter comes from."""
    return type(error).__module__.partition(".")[0] == declares.package


def declared_errors(declares: Declares) -> tuple[type[BaseException], ...]:
    """Return the error types by which a turn may fail: the adapter's own, and the contract's."""
    given = declares.model_error
    own = given if isinstance(given, tuple) else (given,)
    return (*own, ModelError, ProtocolError)


def names_of(types: type[BaseException] | tuple[type[BaseException], ...]) -> str:
    """Return the names of error types: "ModelError or ProtocolError"."""
    given = types if isinstance(types, tuple) else (types,)
    return " or ".join(error.__name__ for error in given)
