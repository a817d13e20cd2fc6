"""Comparing what two readings gave, with the author's `event` alone: by their text."""

from __future__ import annotations

from collections.abc import Iterable

from modeltest.backend import ended_cleanly, sent
from modeltest.consumer import Stream
from modeltest.delivery import CheckContext, ending
from modeltest.harness import Failure, Skip


def plain_text(context: CheckContext, indices: Iterable[int]) -> str:
    """Return the text of these events, as the adapter gives it when nothing is special.

    They are sent as they are and the body then ends; that the turn is cut does not matter.

    Raises:
        Skip: they carry no text; there is nothing to compare.
    """
    with context.apart(ended_cleanly(sent(context, indices))) as scenario:
        scenario.set_up()
        log = scenario.read()
    if not log.text:
        raise Skip(f"the adapter gives no text for event(i) ({ending(log)})")
    return log.text


def expect_beginning(stream: Stream, text: str) -> None:
    """Expect that the stream has given a part of `text` from its beginning, and nothing else.

    Raises:
        Failure: with both texts.
    """
    got = stream.log.text
    if not text.startswith(got):
        raise Failure(f"expected text that begins {text[:80]!r}, got {got[:80]!r}.")


def says_nothing_first(context: CheckContext) -> bool:
    """Tell whether event(0) gives nothing where event(1) does: it may only name the role.

    An adapter that gives each event only once it has the next gives nothing for either.
    """
    return not _gives(context, 0) and _gives(context, 1)


def _gives(context: CheckContext, index: int) -> bool:
    with context.apart(ended_cleanly(sent(context, [index]))) as scenario:
        scenario.set_up()
        return bool(scenario.read().events)
