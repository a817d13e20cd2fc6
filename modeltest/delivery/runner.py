"""Running one check: guards on, judge, outcome."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from modeltest.backend import SocketsClosed
from modeltest.consumer import adapter_threads, threads_as_daemons
from modeltest.delivery.context import Trial
from modeltest.delivery.leaks import caught_spills
from modeltest.delivery.process_state import commons_kept, failure_of
from modeltest.harness import (
    Check,
    Failure,
    Level,
    Need,
    SetUpError,
    Skip,
    Subject,
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


def run(check: Check, subject: Subject) -> Outcome:
    """Run `check` on `subject`.

    No text of the outcome holds the subject's `api_key`.

    Raises:
        SetUpError: the test case is at fault: `new_model` or `event` cannot be used.
        BackendError: the kit is at fault, not the adapter.
    """
    missing = [need for need in check.needs if not getattr(subject, need.value)]
    if Need.EVENT_LOOP in missing:
        return Outcome(check, Status.SKIPPED, "for asynchronous adapters: here is no event loop")
    if missing:
        names = " and ".join(f"`{need.value}`" for need in missing)
        them = "them" if missing[1:] else "it"
        return Outcome(check, Status.SKIPPED, f"needs {names}: set {them} on the test case")
    with _guarded() as egress, caught_spills() as spills:
        trial = Trial(check, subject, egress, spills)
        _judge(trial)
    return _outcome(trial)


def _judge(trial: Trial) -> None:
    """Run the check, and note what it found, and what the adapter did to the process."""
    deeds: list[str] = []
    try:
        with commons_kept() as deeds:
            trial.check.run(trial)
    except Skip as skip:
        trial.leave_unjudged(str(skip))
    except Failure as failure:
        trial.note_broken(failure)
    except SocketsClosed as closed:
        deeds.append(f"{closed}.")
    except SetUpError as error:
        if not deeds:
            raise error.without_cause(trial.subject.secret) from None
    except Exception:
        if not deeds:
            raise
        # Else it is no wonder: the kit cannot work either without, say, its threads.
    if deeds:
        trial.tried += 1
        trial.note_broken(failure_of(deeds), "the process", Level.MUST)


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


def _outcome(trial: Trial) -> Outcome:
    check, attempts = trial.check, tuple(trial.egress.attempts)
    redact = trial.subject.secret.redact
    if trial.broken:
        must = any(broken.level is Level.MUST for broken in trial.broken)
        status = Status.FAILED if must else Status.WARNED
        return Outcome(check, status, redact(_report(trial)), attempts)
    status = Status.PASSED if trial.tried else Status.SKIPPED
    return Outcome(check, status, redact(_reasons(trial)), attempts)


def _reasons(trial: Trial) -> str:
    """Say why cases could not be judged: each reason once, with the cases it holds for."""
    return "; ".join(
        f"{reason} ({', '.join(names)})" if names else reason
        for reason, names in trial.unjudged.items()
    )


def _report(trial: Trial) -> str:
    """Compose the failure text: the rule, each case with its evidence, the fix."""
    check = trial.check
    broken = [(one.name, one.failure) for one in trial.broken]
    shown = {evidence.label for _, failure in broken for evidence in failure.evidence}
    attempts = () if "refused" in shown else trial.egress.attempts
    more = [refused(attempts)] if attempts else []
    return report(check.id, check.fix, broken, trial.tried, *more)
