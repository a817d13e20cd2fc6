"""How many events came, what text, how many requests: all there is without a wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.assertions.report import ending
from modeltest.harness import Evidence, Failure, count

if TYPE_CHECKING:
    from modeltest.harness import Asked, Transcript


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


def expect_requests(asked: Asked, at_most: int) -> None:
    """Expect that no more requests than so many came.

    Raises:
        Failure: with the first of them.
    """
    came = len(asked.requests)
    if came > at_most:
        raise Failure(
            f"{count(came, 'request')} came; expected {at_most} at most "
            f"(`retries` is {asked.retries}).",
            (Evidence("request", "\n".join(asked.requests[:2])),),
            fix="send a request again only after 408, 409, 429, 5xx or a failed connection, and "
            "not more often than `retries` of the test case says",
        )
