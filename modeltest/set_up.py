"""Whether a test case gives what the checks need, told once and clearly."""

from __future__ import annotations

from modeltest.backend import End, Response, events
from modeltest.checks import Check, Level, SetUpError, Status, Subject, Trial, run
from modeltest.checks.case import ending
from modeltest.transports import Transport


def expect_usable(subject: Subject) -> None:
    """Expect that the author's attributes can be used at all; the adapter is not run.

    Raises:
        SetUpError: what is wrong, and what to give instead.
    """
    transport: object = subject.transport
    if not isinstance(transport, Transport):
        raise SetUpError(
            f"transport: expected a Transport such as RequestsTransport(), got {transport!r}"
        )
    deadline: object = subject.deadline
    if not isinstance(deadline, int | float) or deadline <= 0:
        raise SetUpError(f"deadline: expected seconds above 0, got {deadline!r}")
    _expect_exception_types("model_error", subject.model_error)
    _expect_exception_types("config_error", subject.config_error)
    subject.event(0)


def expect_set_up(subject: Subject) -> None:
    """Expect that the adapter sends a request to the backend and makes an event of `event(0)`.

    A wrong `event`, or an adapter that ignores its `base_url`, would fail every check in its
    own way; here it is named.

    Raises:
        SetUpError: what came instead.
    """
    outcome = run(_ANSWERS, subject)
    if outcome.status is Status.FAILED:
        raise SetUpError(outcome.text)


def _answers(trial: Trial) -> None:
    pieces = [trial.event(0), trial.event(1)]
    with trial.case("", Response((*events(pieces), End()))) as case:
        log = case.read()
        if not case.backend.exchanges:
            raise SetUpError(
                f"the adapter sent no request to {case.backend.url}: {ending(log)}. Does "
                "new_model use its base_url?"
            )
        if not log.events:
            raise SetUpError(
                f"the adapter gave no event for {pieces[0]!r} and the next: {ending(log)}. Is "
                "event(i) an event of its provider, with text in it?"
            )


_ANSWERS = Check(
    id="set-up",
    method="test_adapter_is_set_up",
    level=Level.MUST,
    requirement="The adapter asks the backend and understands event(i).",
    why="Without it no check can judge.",
    fix="see the stack: the adapter did not come back from the simplest answer",
    needs=(),
    run=_answers,
)


def _expect_exception_types(name: str, given: object) -> None:
    types = given if isinstance(given, tuple) else (given,)
    if not types or not all(isinstance(t, type) and issubclass(t, BaseException) for t in types):
        raise SetUpError(f"{name}: expected an exception class or a tuple of them, got {given!r}")
