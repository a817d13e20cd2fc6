"""Judging what a reader made of a body where the wire says what it means."""

from __future__ import annotations

from modeltest.assertions import expect_answer, expect_said, wire_shown
from modeltest.assertions import turn as turns
from modeltest.consumer import Log
from modeltest.harness import Evidence, Failure
from modeltest.reader.reading import Reading, assembled
from modeltest.wire import Body, Role


def expect_turn(body: Body, reading: Reading) -> None:
    """Expect what the format means: the turn, or, where the body is no whole answer, an error.

    Raises:
        Failure: with the body and both readings.
    """
    if _must_fail(body):
        expect_failure(body, reading)
    else:
        expect_answer(body, _log_of(reading))


def expect_failure(body: Body, reading: Reading) -> BaseException:
    """Expect that the response fails, in the reader or in `assemble`; return how.

    Raises:
        Failure: it was taken for an answer.
    """
    message, error = reading.outcome()
    if error is None:
        raise Failure(
            "a body that is no whole answer was taken for one; expected an error.",
            (
                Evidence("got", f"{message!r:.300}\n{reading.finish!r}"),
                reading.evidence() if reading.cut < len(reading.body) else wire_shown(body),
            ),
        )
    return error


def expect_raw(body: Body, reading: Reading) -> None:
    """Expect the turn, and the provider's own word in `Finish.raw`.

    Raises:
        Failure: with both words.
    """
    expect_turn(body, reading)
    if reading.finish is not None:
        turns.expect_raw(body, reading.finish)


def expect_usage(body: Body, reading: Reading) -> None:
    """Expect the turn, and its token counts.

    Raises:
        Failure: with both counts.
    """
    expect_turn(body, reading)
    turns.expect_usage(body, reading.finish)


def expect_ids(body: Body, reading: Reading) -> None:
    """Expect the turn, and the ids of its calls.

    Raises:
        Failure: with both.
    """
    expect_turn(body, reading)
    turns.expect_ids(body, reading.events)


def expect_words(body: Body, reading: Reading) -> None:
    """Expect that the response fails with the provider's type and message.

    Raises:
        Failure: it was taken for an answer, or the error says less.
    """
    error = expect_failure(body, reading)
    words = body.error.words if body.error is not None else ()
    expect_said(error, words, "what the provider said", wire_shown(body))


def expect_tool_named(body: Body, reading: Reading) -> None:
    """Expect that the response fails with an error that names the tool.

    Raises:
        Failure: it was taken for an answer, or the error does not.
    """
    error = expect_failure(body, reading)
    expect_said(error, turns.tool_names(body), "which tool was called", wire_shown(body))


def _must_fail(body: Body) -> bool:
    if body.error is not None or body.finish is None or body.first(Role.MALFORMED) is not None:
        return True
    return assembled(body.events)[1] is not None


def _log_of(reading: Reading) -> Log:
    log = Log()
    log.events, log.error, log.ended = reading.events, reading.error, True
    return log
