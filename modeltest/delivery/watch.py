"""Giving up on a stream parser that does not come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from modeltest.harness import Evidence, Failure
from modeltest.threads import Hang, KitThread, Pending, stack, unwind

if TYPE_CHECKING:
    from modeltest.delivery.parser import Parser


def watched(run: Callable[[], None], parser: Parser, deadline: float) -> None:
    """Call `run()` on a thread of its own, and wait for it as long as bodies are read.

    Args:
        run: lets the parser read bodies.
        parser: counts the bodies that it was given.
        deadline: seconds that one body may take.

    Raises:
        Failure: the parser did not come back from one.

    And what `run` raises.
    """

    def work() -> None:
        try:
            run()
        except BaseException as error:
            pending.finish(error)
        else:
            pending.finish(None)

    thread = KitThread(work, name="modeltest reader")
    pending = Pending("stream_sse(body)", lambda: stack(thread))
    thread.start()
    while True:
        before = parser.reads
        try:
            error = pending.wait(deadline)
            break
        except Hang as hang:
            if parser.reads == before:
                unwind(thread)
                raise Failure(
                    f"the stream parser did not come back from a body within {deadline:.1f} s.",
                    (Evidence("stack", "\n".join(hang.frames)),),
                ) from None
    if error is not None:
        raise error
