"""The real time, whatever an adapter or its tests make of the `time` module.

Tests of retries stop the clock and skip sleeps. A deadline that is read from a stopped clock
never comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# Not as names of this module: tools that stop the clock replace those in every module.
_REAL: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep)


def now() -> float:
    """Return the monotonic time, in seconds."""
    return _REAL[0]()


def pause(seconds: float) -> None:
    """Wait so many seconds."""
    _REAL[1](seconds)
