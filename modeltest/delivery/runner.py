"""Running one check: judge, and say what was done to the process meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from modeltest.delivery.process_state import failure_of, process_state_kept
from modeltest.harness import Failure, Level

if TYPE_CHECKING:
    from modeltest.harness import CheckContext


def judge(context: CheckContext, run_check: Callable[[], None]) -> None:
    """Run a check, and note what it found, and what was done to the process meanwhile."""
    changes: list[str] = []
    try:
        with process_state_kept() as changes:
            run_check()
    except context.skips as skip:
        context.leave_unjudged(str(skip))
    except Failure as failure:
        context.note_failure(failure)
    except context.harm as harm:
        changes.append(f"{harm}.")
    except Exception:
        if not changes:
            raise
        # Else it is no wonder: the kit cannot work either without, say, its threads.
    if changes:
        context.tried += 1
        context.note_failure(failure_of(changes), "the process", Level.MUST)
