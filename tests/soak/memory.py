"""What a process holds, and whether it grows."""

from __future__ import annotations

import os
import statistics
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ALLOWED_BLOCKS = 0.5
"""Blocks of Python's own allocator a check that still count as flat.

Whatever a check leaves behind in Python takes at least one. Caches that fill slowly took up to
0.15 when this was chosen; a test result that kept a line for each skipped test, 0.73.
"""

ALLOWED_BYTES = 4096
"""Bytes of memory a check that still count as flat: one page.

Blocks do not show what C code holds; but a thread's stack, a compressor or a TLS session hold
more than a page each. The C library's malloc has several arenas for many threads, whose gaps
fill slowly: with no leak that took 200 to 1,400 bytes a check, and 50 with a single arena
(MALLOC_ARENA_MAX=1).
"""

ENOUGH = 100
"""Checks below which nothing is said: a cache that fills once looks like a leak."""


@dataclass(frozen=True)
class Holdings:
    """What this process holds.

    Attributes:
        resident: bytes of memory in RAM; where only the most so far is known, that.
        blocks: blocks that Python's own allocator gave out; 0 where it does not count.
        descriptors: open file descriptors; 0 where they cannot be counted.
        threads: threads that Python knows.
    """

    resident: int
    blocks: int
    descriptors: int
    threads: int

    @classmethod
    def now(cls) -> Holdings:
        """Look."""
        count_blocks = getattr(sys, "getallocatedblocks", lambda: 0)  # CPython alone has it
        return cls(_resident(), count_blocks(), _descriptors(), threading.active_count())


@dataclass(frozen=True)
class Growth:
    """Holdings after more and more checks.

    Attributes:
        checks: how many checks had been run at each look, those to warm up included.
        holdings: what was held then.
    """

    checks: Sequence[int]
    holdings: Sequence[Holdings]

    def a_check(self, kind: str) -> float:
        """Return the growth a check: the slope of the line that fits all looks best."""
        held = [getattr(holdings, kind) for holdings in self.holdings]
        return statistics.linear_regression(self.checks, held).slope

    @property
    def number(self) -> int:
        """How many checks were run between the first look and the last."""
        return self.checks[-1] - self.checks[0]

    @property
    def flat(self) -> bool:
        """Whether nothing grew: no descriptor, no thread, no memory that counts."""
        first, last = self.holdings[0], self.holdings[-1]
        return (
            self.a_check("blocks") <= ALLOWED_BLOCKS
            and self.a_check("resident") <= ALLOWED_BYTES
            and last.descriptors <= first.descriptors
            and last.threads <= first.threads
        )

    def __str__(self) -> str:
        first, last = self.holdings[0], self.holdings[-1]
        verdict = "flat" if self.flat else "NOT FLAT"
        if self.number < ENOUGH:
            verdict = "too few to tell"
        return f"""{self.number} checks after {self.checks[0]} to warm up: {verdict}
  memory       {first.resident / 1e6:.1f} → {last.resident / 1e6:.1f} MB: \
{self.a_check("resident"):+.0f} bytes a check (flat: up to {ALLOWED_BYTES})
  blocks       {first.blocks} → {last.blocks}: \
{self.a_check("blocks"):+.3f} a check (flat: up to {ALLOWED_BLOCKS})
  descriptors  {first.descriptors} → {last.descriptors}
  threads      {first.threads} → {last.threads}"""


def _resident() -> int:
    # Linux. Elsewhere the largest size so far, which a leak drives up as well.
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):
        import resource  # not on Windows

        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return largest if sys.platform == "darwin" else largest * 1024
    return 0


def _descriptors() -> int:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return sum(1 for _ in Path(folder).iterdir()) - 1  # the one it is read by
    return 0
