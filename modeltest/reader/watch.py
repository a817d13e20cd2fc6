"""Giving up on a reader that does not come back."""

from __future__ import annotations

from modeltest.backend import KitThread
from modeltest.consumer import Hang, Pending, stack, unwind
from modeltest.delivery import commons_kept, failure_of
from modeltest.harness import Evidence, Failure
from modeltest.reader.clause import Run
from modeltest.reader.trial import ReaderTrial


def run_watched(run: Run, trial: ReaderTrial) -> None:
    """Call `run(trial)` on a thread of its own, and wait for it as long as bodies are read.

    Args:
        run: lets the trial's reader read bodies.
        trial: what it is called with; it says how long one body may take.

    Raises:
        Failure: the reader did not come back from one, or meddled with the process.

    And what `run` raises.
    """
    deeds: list[str] = []
    try:
        with commons_kept() as deeds:
            _run_watched(run, trial)
    except KeyboardInterrupt:
        raise
    except BaseException:
        if not deeds:
            raise
    if deeds:
        raise failure_of(deeds)


def _run_watched(run: Run, trial: ReaderTrial) -> None:

    def work() -> None:
        try:
            run(trial)
        except BaseException as error:
            pending.finish(error)
        else:
            pending.finish(None)

    thread = KitThread(work, name="modeltest reader")
    pending = Pending("stream_sse(body)", lambda: stack(thread))
    thread.start()
    while True:
        before = trial.reader.reads
        try:
            error = pending.wait(trial.deadline)
            break
        except Hang as hang:
            if trial.reader.reads == before:
                unwind(thread)
                raise Failure(
                    f"the reader did not come back from a body within {trial.deadline:.1f} s.",
                    (Evidence("stack", "\n".join(hang.frames)),),
                ) from None
    if error is not None:
        raise error
