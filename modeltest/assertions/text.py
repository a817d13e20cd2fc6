"""How many events came, and what text: all there is without a wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.assertions.report import ending
from modeltest.harness import Failure, count

if TYPE_CHECKING:
    from modeltest.harness import Transcript


def expect_beginning(log: Transcript, text: str) -> None:
    """Expect that a part of `text` came from its beginning, and nothing else.

    Raises:
        Failure: with both texts.
    """
    if not text.startswith(log.text):
        raise Failure(f"expected text that begins {text[:80]!r}, got {log.text[:80]!r}.")


def expect_events(log: Transcript, number: int) -> None:
    """Expect that so many events were taken.

    Raises:
        Failure: there were fewer.
    """
    got = len(log.events)
    if got < number:
        raise Failure(f"expected {count(number, 'event')}, got {got}: {ending(log)}.")
