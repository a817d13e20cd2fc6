"""Running one check: guards on, judge, outcome."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from modeltest.backend import SocketsClosed
from modeltest.consumer import adapter_threads, threads_as_daemons
from modeltest.delivery.http import ServedContext
from modeltest.delivery.leaks import caught_leaks
from modeltest.delivery.process_state import failure_of, process_state_kept
from modeltest.delivery.watch import watched
from modeltest.harness import Failure, Level, Need, Outcome, SetUpError, Status, needed, refused
from modeltest.transports import EgressGuard, neutral_environment

if TYPE_CHECKING:
    from modeltest.delivery.memory import ParserContext
    from modeltest.delivery.target import Target
    from modeltest.harness import Check, CheckContext, Evidence


def run(check: Check, target: Target) -> Outcome:
    """Run `check` on an adapter, over HTTP.

    No text of the outcome holds the target's `api_key`.

    Raises:
        SetUpError: the test case is at fault: `new_model` or `event` cannot be used.
        BackendError: the kit is at fault, not the adapter.
    """
    missing = [need for need in check.needs if not getattr(target, need.value)]
    if Need.EVENT_LOOP in missing:
        return Outcome(check, Status.SKIPPED, "for asynchronous adapters: here is no event loop")
    if missing:
        return Outcome(check, Status.SKIPPED, needed(*missing))
    redact = target.secret.redact
    with _guarded() as egress, caught_leaks() as leaks:
        context = ServedContext(check, target, egress, leaks)
        try:
            _judge(context, context.run)
        except SetUpError as error:
            raise error.without_cause(redact) from None
    outcome = context.outcome(*_attempts_shown(context))
    return replace(outcome, text=redact(outcome.text), attempts=tuple(egress.attempts))


def run_in_memory(context: ParserContext) -> Outcome:
    """Run a check on a stream parser, in memory."""
    _judge(context, lambda: watched(context.run, context.parser, context.deadline))
    outcome = context.outcome()
    if outcome.status is Status.SKIPPED and not outcome.text:
        return replace(outcome, text="the bodies leave nothing to try")
    return outcome


def _judge(context: CheckContext, run_check: Callable[[], None]) -> None:
    """Run the check, and note what it found, and what was done to the process meanwhile."""
    changes: list[str] = []
    try:
        with process_state_kept() as changes:
            run_check()
    except context.skips as skip:
        context.leave_unjudged(str(skip))
    except Failure as failure:
        context.note_failure(failure)
    except SocketsClosed as closed:
        changes.append(f"{closed}.")
    except Exception:
        if not changes:
            raise
        # Else it is no wonder: the kit cannot work either without, say, its threads.
    if changes:
        context.tried += 1
        context.note_failure(failure_of(changes), "the process", Level.MUST)


@contextmanager
def _guarded() -> Iterator[EgressGuard]:
    """Surround a check with everything that keeps author, kit and adapter apart."""
    collecting = gc.isenabled()
    gc.disable()  # a leak must not pass because the collector happened to run
    try:
        # A thread that serves all of an adapter's models was started in an earlier check.
        guard = EgressGuard(threads=adapter_threads())
        with neutral_environment(), threads_as_daemons(), guard as egress:
            yield egress
    finally:
        (gc.enable if collecting else gc.disable)()  # a check may have changed it


def _attempts_shown(context: ServedContext) -> list[Evidence]:
    """Return the connections that were refused, unless a failure shows them already."""
    labels = {found.label for one in context.failed for found in one.failure.evidence}
    attempts = context.egress.attempts
    return [refused(attempts)] if attempts and "refused" not in labels else []
