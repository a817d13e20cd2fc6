"""The kit's share of the CPU.

Each check that needs no more than `event` is run once and recorded: the bytes of each write of
each answer, how the answer ended, and each verb by which the adapter was used (open, take so
many events, close, drop, …). The recording is then played to the same adapter, with a fresh
session and model for each case as in the kit, by plain calls on one thread. The answers come from
a blocking socket server that does nothing but read a request and write the recorded bytes, without
pauses; it is started once. The consumer leaves when the server has written what it wrote then.

What that costs is the adapter's, the HTTP client's and the kernel's. What the kit costs on top
are threads that may be left behind, a server of its own for each case, deadlines, evidence and
guards.

Measured is `time.process_time`: all threads of the process, client and server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modeltest.checks import ALL, BY_NAME
from modeltest.delivery import Target
from modeltest.harness import Check
from tests.benchmarks.bare import BareServer, replay
from tests.benchmarks.measure import Table, in_turns, milliseconds, timed
from tests.benchmarks.tape import Scene, record
from tests.benchmarks.targets import openai_chat, passed

QUICK = ("release/with", "release/failed", "truncation/reset", "truncation/closed")


@dataclass(frozen=True)
class Traffic:
    """How much was exchanged: answers, and bytes of them with heads and framing."""

    answers: int
    sent: int

    @classmethod
    def of(cls, scenes: Sequence[Scene]) -> Traffic:
        """Return what a recording holds."""
        answers = [answer for scene in scenes for answer in scene.answers]
        return cls(len(answers), sum(len(data) for answer in answers for data in answer.writes))


@dataclass(frozen=True)
class Comparison:
    """The CPU seconds of a check, and of its exchanges alone."""

    name: str
    kit: float
    bare: float
    recorded: Traffic
    replayed: Traffic

    def row(self) -> tuple[str, ...]:
        return (
            self.name,
            milliseconds(self.kit),
            milliseconds(self.bare),
            f"{self.kit / self.bare:.2f}",
            f"{self.replayed.answers} of {self.recorded.answers}",
            f"{self.replayed.sent / 1000:.1f} of {self.recorded.sent / 1000:.1f}",
        )


def tables(*, quick: bool) -> Iterator[Table]:
    """Compare all checks together, and each by itself."""
    checks = [BY_NAME[name] for name in QUICK] if quick else [c for c in ALL if not c.needs]
    target = openai_chat()
    each = [compare(check, target, 1 if quick else 7) for check in checks]
    each.sort(key=lambda comparison: comparison.kit, reverse=True)
    yield Table(
        "CPU of the kit, and of the same exchanges with a bare server",
        ("", "kit ms", "bare ms", "ratio", "answers replayed", "kB replayed"),
        [comparison.row() for comparison in (_together(each), *each)],
        "aim: at most 2 for all",
    )


def compare(check: Check, target: Target, rounds: int) -> Comparison:
    """Record a check, and measure it and its replay in turns."""
    scenes = record(check, target)
    with BareServer() as server:
        replay(scenes, target, server)
        replayed = Traffic(server.answered, server.sent)
        actions = {
            "kit": timed(lambda: passed(check, target), time.process_time),
            "bare": timed(lambda: replay(scenes, target, server), time.process_time),
        }
        measured = in_turns(rounds, actions)
    kit, bare = measured["kit"].median, measured["bare"].median
    return Comparison(check.id, kit, bare, Traffic.of(scenes), replayed)


def _together(each: Sequence[Comparison]) -> Comparison:
    return Comparison(
        "all",
        sum(one.kit for one in each),
        sum(one.bare for one in each),
        _sum([one.recorded for one in each]),
        _sum([one.replayed for one in each]),
    )


def _sum(traffic: Sequence[Traffic]) -> Traffic:
    return Traffic(sum(one.answers for one in traffic), sum(one.sent for one in traffic))
