"""faults: the provider fails, and what the adapter does then."""

from __future__ import annotations

from modeltest.backend import Response
from modeltest.checks.check import Need, check
from modeltest.checks.failure import Failure, count, refused
from modeltest.checks.refusal import expect_error, expect_said
from modeltest.checks.scripts import ended_cleanly, flowing, sent, without_last_chunk
from modeltest.checks.trial import Trial
from modeltest.checks.turns import answer, bodies_or_skip, wire_shown


@check(
    "faults/error-event",
    "test_error_event_is_an_error",
    needs=(Need.WIRE,),
    fix="raise a ModelError that carries the provider's type and message for each shape of its "
    "error event, and nothing after it",
)
def error_event_is_an_error(trial: Trial) -> None:
    """An error event is an error, with the provider's type and message in it.

    It comes after HTTP 200, and after half an answer. Ignored, it leaves that half for a whole.
    """
    for body in bodies_or_skip(trial.subject.wire.error_bodies):
        with trial.case(body.name, answer(trial, body)) as case:
            error = expect_error(case, case.read(), "an error event", wire_shown(body))
            words = body.error.words if body.error is not None else ()
            expect_said(error, words, "what the provider said", wire_shown(body))


@check(
    "faults/egress",
    "test_only_the_provider_is_contacted",
    fix="send nothing but the one request to base_url: no telemetry, no update check, no "
    "look-up of model lists; build every URL from base_url",
)
def only_the_provider_is_contacted(trial: Trial) -> None:
    """Nothing but the provider's address is contacted.

    A prompt, or a key, that travels to a third host is a breach. An adapter that ignores
    base_url reaches the real provider from a test.
    """
    cases = {
        "an answer that is cut": ended_cleanly(sent(trial, range(2))),
        "an answer that breaks": without_last_chunk(sent(trial, range(2))),
        "HTTP 500": Response(status=500, content_type="text/plain"),
        "an early break": flowing(trial),
    }
    for name, response in cases.items():
        before = len(trial.egress.attempts)
        with trial.case(name, response) as case:
            if name == "an early break":
                stream = case.stream()
                stream.open()
                stream.take(1)
                stream.drop()
            else:
                case.read()
            case.let_threads_rest()  # one of them may be about to connect
            attempts = trial.egress.attempts[before:]
            if attempts:
                raise Failure(
                    f"{count(len(attempts), 'connection')} to elsewhere attempted, and refused; "
                    f"expected none but to {case.backend.url}.",
                    (refused(attempts),),
                )
