"""Timing several things in turns, so that whatever slows the machine slows them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Series:
    """What repeated measurements of one thing gave, in seconds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def p99(self) -> float:
        """The 99th percentile; of fewer than a hundred values, the largest."""
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def in_turns(rounds: int, actions: Mapping[str, Callable[[], float]]) -> dict[str, Series]:
    """Call each action once a round, back and forth; each returns the seconds that count."""
    values: dict[str, list[float]] = {name: [] for name in actions}
    order = list(actions)
    for _ in range(rounds):
        for name in order:
            values[name].append(actions[name]())
        # What comes after a slow action finds other caches than what comes before it.
        order.reverse()
    return {name: Series(tuple(seconds)) for name, seconds in values.items()}


def timed(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> Callable[[], float]:
    """Return an action for `in_turns` that measures the whole of `action`."""

    def measure() -> float:
        began = clock()
        action()
        return clock() - began

    return measure


@dataclass(frozen=True)
class Table:
    """Something to print."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        text = [self.title]
        for name, *figures in lines:
            cells = [name.ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True)]
            text.append("  " + "  ".join(cells).rstrip())
        return "\n".join([*text, *(f"  {line}" for line in self.note.splitlines())])


def compare(title: str, measured: Mapping[str, Series], note: str = "") -> Table:
    """Return the table of what `in_turns` measured; each ratio is to the first row."""
    first = next(iter(measured.values())).median
    rows = [
        (
            name,
            milliseconds(series.median),
            milliseconds(series.p99),
            f"{series.median / first:.2f}",
            str(len(series.values)),
        )
        for name, series in measured.items()
    ]
    return Table(title, ("", "median ms", "99 % ms", "ratio", "n"), rows, note)


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds with three digits that count, at least."""
    value = seconds * 1000
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
