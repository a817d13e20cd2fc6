"""Running one check: guards on, judge, outcome."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from modeltest.backend import SocketsClosed
from modeltest.consumer import adapter_threads, threads_as_daemons
from modeltest.delivery.context import CheckContext
from modeltest.delivery.leaks import caught_spills
from modeltest.delivery.process_state import commons_kept, failure_of
from modeltest.harness import (
    Check,
    Failure,
    Level,
    Need,
    SetUpError,
    Skip,
    Target,
    refused,
    report,
)
from modeltest.transports import Attempt, EgressGuard, neutral_environment


class Status(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    """Every case that can be judged holds, and there is one."""
    FAILED = "failed"
    WARNED = "warned"
    """Only SHOULD cases failed."""
    SKIPPED = "skipped"
    """No case can be judged."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        check: the check.
        status: how it ended.
        text: the failure; else why cases could not be judged, if any.
        attempts: connections to elsewhere that were refused.
    """

    check: Check
    status: Status
    text: str = ""
    attempts: tuple[Attempt, ...] = ()


def run(check: Check, target: Target) -> Outcome:
    """Run `check` on `target`.

    No text of the outcome holds the target's `api_key`.

    Raises:
        SetUpError: the test case is at fault: `new_model` or `event` cannot be used.
        BackendError: the kit is at fault, not the adapter.
    """
    missing = [need for need in check.needs if not getattr(target, need.value)]
    if Need.EVENT_LOOP in missing:
        return Outcome(check, Status.SKIPPED, "for asynchronous adapters: here is no event loop")
    if missing:
        names = " and ".join(f"`{need.value}`" for need in missing)
        them = "them" if missing[1:] else "it"
        return Outcome(check, Status.SKIPPED, f"needs {names}: set {them} on the test case")
    with _guarded() as egress, caught_spills() as spills:
        context = CheckContext(check, target, egress, spills)
        _judge(context)
    return _outcome(context)


def _judge(context: CheckContext) -> None:
    """Run the check, and note what it found, and what the adapter did to the process."""
    deeds: list[str] = []
    try:
        with commons_kept() as deeds:
            context.check.run(context)
    except Skip as skip:
        context.leave_unjudged(str(skip))
    except Failure as failure:
        context.note_broken(failure)
    except SocketsClosed as closed:
        deeds.append(f"{closed}.")
    except SetUpError as error:
        if not deeds:
            raise error.without_cause(context.target.secret) from None
    except Exception:
        if not deeds:
            raise
        # Else it is no wonder: the kit cannot work either without, say, its threads.
    if deeds:
        context.tried += 1
        context.note_broken(failure_of(deeds), "the process", Level.MUST)


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


def _outcome(context: CheckContext) -> Outcome:
    check, attempts = context.check, tuple(context.egress.attempts)
    redact = context.target.secret.redact
    if context.broken:
        must = any(broken.level is Level.MUST for broken in context.broken)
        status = Status.FAILED if must else Status.WARNED
        return Outcome(check, status, redact(_report(context)), attempts)
    status = Status.PASSED if context.tried else Status.SKIPPED
    return Outcome(check, status, redact(_reasons(context)), attempts)


def _reasons(context: CheckContext) -> str:
    """Say why cases could not be judged: each reason once, with the cases it holds for."""
    return "; ".join(
        f"{reason} ({', '.join(names)})" if names else reason
        for reason, names in context.unjudged.items()
    )


def _report(context: CheckContext) -> str:
    """Compose the failure text: the rule, each case with its evidence, the fix."""
    check = context.check
    broken = [(one.name, one.failure) for one in context.broken]
    shown = {evidence.label for _, failure in broken for evidence in failure.evidence}
    attempts = () if "refused" in shown else context.egress.attempts
    more = [refused(attempts)] if attempts else []
    return report(check.id, check.fix, broken, context.tried, *more)
