"""A verdict against the adapter, and how it reads."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from modeltest.threads import Hang
    from modeltest.transports import Attempt


LABEL_WIDTH = 9


@dataclass(frozen=True)
class Evidence:
    """One labelled finding, such as ("server", "sent 2 events; the client is still connected").

    Attributes:
        label: what it is about; nine characters at most.
        text: the finding.
        always: it is shown of every case that fails, also of those that are else only named.
    """

    label: str
    text: str
    always: bool = False

    def __str__(self) -> str:
        # Not splitlines(): U+2028 and the like are text.
        runs = itertools.groupby(self.text.split("\n"))
        first, *rest = (_times(line, len(list(same))) for line, same in runs)
        lines = [f"  {self.label:<{LABEL_WIDTH}}{first}"]
        return "\n".join([*lines, *(" " * (LABEL_WIDTH + 2) + line for line in rest)])


class Failure(Exception):  # noqa: N818 - a verdict, not a fault of the kit
    """The adapter fails the check.

    Attributes:
        statement: what happened, in one sentence.
        evidence: what was seen, where.
        hung: whether the adapter did not come back; then no further case is tried.
        fix: how to fix it, where that is not what the check says.
    """

    def __init__(
        self,
        statement: str,
        evidence: tuple[Evidence, ...] = (),
        *,
        hung: bool = False,
        fix: str = "",
    ) -> None:
        super().__init__(statement)
        self.statement = statement
        self.evidence = evidence
        self.hung = hung
        self.fix = fix

    def with_evidence(self, more: tuple[Evidence, ...]) -> Self:
        """Return the same verdict with more evidence, of the kinds that it does not have yet."""
        had = {evidence.label for evidence in self.evidence}
        new = (evidence for evidence in more if evidence.label not in had)
        evidence = (*self.evidence, *new)
        return type(self)(self.statement, evidence, hung=self.hung, fix=self.fix)

    def __str__(self) -> str:
        return "\n".join([self.statement, *map(str, self.evidence)])

    @property
    def in_short(self) -> str:
        """The statement and what is `always` shown; empty if nothing is."""
        kept = [str(evidence) for evidence in self.evidence if evidence.always]
        return "\n".join([self.statement, *kept]) if kept else ""

    @property
    def with_fix(self) -> str:
        """The same text, and how to fix it if the failure says so itself."""
        return f"{self}\n{Evidence('fix', self.fix)}" if self.fix else str(self)


def hung(hang: Hang, statement: str = "", *, fix: str = "") -> Failure:
    """Return a hang as the failure it is, with the stack that shows where.

    Args:
        hang: the hang.
        statement: what it means, where there is more to say than that something did not return.
        fix: as for `Failure`.
    """
    text = statement or f"{hang}; the stack shows where it waits."
    stack = "\n".join(hang.frames) or "(the thread has ended)"
    return Failure(text, (Evidence("stack", stack),), hung=True, fix=fix)


class Skip(Exception):  # noqa: N818 - not an error
    """The check cannot judge this adapter; the text says why."""


class SetUpError(Exception):
    """The test case gives something that the kit cannot use; the text says what to change."""

    def without_cause(self, redact: Callable[[str], str]) -> SetUpError:
        """Return the same with its cause, and the place it came from, in the text.

        A cause is printed as it is; the text passes through `redact`.
        """
        cause, text = self.__cause__, str(self)
        if cause is not None:
            text += "\n" + "".join(traceback.format_exception(cause, limit=-3)).rstrip()
        return SetUpError(redact(text))


def _times(line: str, number: int) -> str:
    return line if number == 1 else f"{line} ({number} times)"


def count(number: int, noun: str) -> str:
    """Return "1 event", "2 events"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """Return a number of bytes as a person reads it: "812 B", "23 kB", "1.2 MB"."""
    if number < 1_000:
        return f"{number} B"
    if number < 1_000_000:
        return f"{number / 1_000:.0f} kB"
    return f"{number / 1_000_000:.1f} MB"


def refused(attempts: Iterable[Attempt]) -> Evidence:
    """Return which connections to elsewhere were refused, alike ones as one."""
    alike = {(attempt.action, attempt.address, attempt.place): attempt for attempt in attempts}
    return Evidence("refused", "\n".join(map(str, alike.values())))


_SHOWN, _NAMED = 3, 18
"""Cases that a report shows with what was seen, and how many more it names."""


def report(
    rule: str, fix: str, broken: Sequence[tuple[str, Failure]], tried: int, *more: Evidence
) -> str:
    """Return the text of a rule that is broken: the cases, the first ones whole, and the fix.

    Args:
        rule: the check's id.
        fix: how to fix it, where a failure does not say.
        broken: the name of each case that failed, and its failure; one at least.
        tried: how many cases were tried.
        more: what was seen besides.
    """
    texts = [f"{name}: {failure}" if name else str(failure) for name, failure in broken]
    lines = [f"{rule}: {texts[0]}"]
    if len(texts) > 1:
        lines = [f"{rule}: {len(texts)} of {tried} cases fail."]
        lines += [f"- {text}" for text in texts[:_SHOWN]]
    rest = [(name, failure.in_short) for name, failure in broken[_SHOWN:]]
    lines += [f"- {name}: {text}" for name, text in rest if text]
    names = [name for name, text in rest if not text]
    if names:
        others = f"; and {len(names) - _NAMED} others" if len(names) > _NAMED else ""
        lines.append(f"- and {len(names)} more: {'; '.join(names[:_NAMED])}{others}")
    fixes = dict.fromkeys(failure.fix or fix for _, failure in broken)
    return "\n".join([*lines, *map(str, more), *(str(Evidence("fix", one)) for one in fixes)])
