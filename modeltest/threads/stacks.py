"""Where threads and tasks stand: the stack of a hang, and the line a leaked thread waits at."""

from __future__ import annotations

import asyncio
import gc
import linecache
import os
import sys
import sysconfig
import threading
import traceback
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

# What an adapter calls to speak HTTP. Named one by one: skipping all of site-packages would
# also skip an adapter that is installed there.
HTTP_LIBRARIES = frozenset(
    {
        "aiohappyeyeballs",
        "aiohttp",
        "anyio",
        "h11",
        "h2",
        "httpcore",
        "httpx",
        "requests",
        "responses",
        "sniffio",
        "trio",
        "urllib3",
        "uvloop",
    }
)
"""The top-level packages of HTTP clients, and of what they run on."""

_never = threading.Event()
"""Waited for as a pause: an adapter's tests may stop the clock of the `time` module."""

_KIT = str(Path(__file__).parents[1]) + os.sep
_DEMO = _KIT + "demo" + os.sep
"""Not the kit's code but adapters, though they come with it."""
_STDLIB, INSTALLED = (
    tuple({str(Path(sysconfig.get_path(name))) + os.sep for name in names})
    for names in (("stdlib", "platstdlib"), ("purelib", "platlib"))
)
_STARTERS = (threading.__file__, asyncio.base_events.__file__, asyncio.events.__file__)
_LOOKS = 20
SHOWN = 8
"""Frames of a stack that are shown."""


class Spot(NamedTuple):
    """A line that code is at, or was: file, line number, function."""

    file: str
    line: int
    function: str


def waits_at(thread: threading.Thread) -> str:
    """Return the line of the adapter that `thread` is at: "acme/adapter.py:55: queue.put(x)".

    The adapter's innermost frame; the innermost of all if it has none. Empty once the thread has
    ended.
    """
    spots = list(spots_of(_frames(thread)))
    return "".join(_describe(spot) for spot in (adapter_spots(spots) or spots)[:1])


def stack(thread: threading.Thread) -> list[str]:
    """Return the innermost frames of a thread, innermost last, the kit's left out.

    The adapter's own innermost frame is always among them.
    """
    for _ in range(_LOOKS):
        lines = lines_of(spots_of(_frames(thread)))
        if lines:
            return lines
        _never.wait(0.001)  # it was in the kit's own code just then, between two events
    return []


def awaits(task: Any) -> list[str]:
    """Return the frames that a suspended coroutine or async generator waits at, as `stack`."""
    return lines_of(reversed([*spots_of(_awaited(task))]))


def raised_at(error: BaseException) -> list[Spot]:
    """Return the spots that `error` came through, innermost first; no frame is kept alive."""
    spots = [
        Spot(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    return spots[::-1]


def position(thread: threading.Thread) -> tuple[int, int] | None:
    """Return a mark of where a thread is; the same mark twice means that it has not moved."""
    frame = _innermost(thread)
    return None if frame is None else (id(frame), frame.f_lasti)


def _innermost(thread: threading.Thread) -> FrameType | None:
    return sys._current_frames().get(thread.ident or 0)  # the only way to look into a thread


def _frames(thread: threading.Thread) -> Iterator[FrameType]:
    frame = _innermost(thread)
    while frame is not None:
        yield frame
        frame = frame.f_back


def spots_of(frames: Iterable[FrameType]) -> Iterator[Spot]:
    """Yield where each of `frames` is."""
    for frame in frames:
        # A frame of another thread may stand between two lines: then it has no number.
        line = frame.f_lineno or frame.f_code.co_firstlineno
        yield Spot(frame.f_code.co_filename, line, frame.f_code.co_name)


def _awaited(awaitable: Any) -> Iterator[FrameType]:
    """Yield the frames of `awaitable` and of what it awaits, outermost first."""
    seen: set[int] = set()
    while awaitable is not None and id(awaitable) not in seen:
        seen.add(id(awaitable))
        kind = next((k for k in _KINDS if hasattr(awaitable, f"{k}_frame")), None)
        if kind is None:
            awaitable = _driven(awaitable)
            continue
        frame = getattr(awaitable, f"{kind}_frame")
        if frame is not None:
            yield frame
        awaitable = getattr(awaitable, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")


_KINDS = ("cr", "ag", "gi")
"""How the attributes of coroutines, async generators and generators begin."""


def _driven(awaitable: Any) -> Any:
    """Return what an awaitable without a frame drives: `anext()` a generator, a task a coroutine.

    No attribute tells; the garbage collector knows. An object of the author's may hold others
    that it does not await: it is not looked into.
    """
    if type(awaitable).__module__ in ("builtins", "_asyncio"):
        for held in gc.get_referents(awaitable):
            if isinstance(held, asyncio.Task):
                return held.get_coro()
            if isinstance(held, AsyncGenerator | Coroutine):
                return held
    return None


def lines_of(spots: Iterable[Spot]) -> list[str]:
    """Describe spots that come innermost first; innermost last, the kit's left out."""
    theirs = [spot for spot in spots if not is_kit_spot(spot)]
    while theirs and theirs[-1].file in _STARTERS:
        del theirs[-1]  # how every thread begins says nothing
    inner = theirs[:SHOWN]
    lines = [_describe(spot) for spot in reversed(inner)]
    own = adapter_spots(theirs)
    if not {*own} & {*inner}:
        # What the adapter calls may be deeper than what is shown.
        lines[:0] = [f"{_describe(spot)} …" for spot in own[:1]]
    return lines


def is_kit_spot(spot: Spot) -> bool:
    """Tell whether a spot is in the kit's own code."""
    return spot.file.startswith(_KIT) and not spot.file.startswith(_DEMO)


def adapter_spots(spots: Iterable[Spot]) -> list[Spot]:
    """Return those of the adapter's code: outside of the library, the kit and what is installed.

    Where there are none, those of installed packages that speak no HTTP: one may be the adapter.
    """
    installed, own = [], []
    for spot in spots:
        package = _package(spot)
        if package and package not in HTTP_LIBRARIES:
            installed.append(spot)
        elif not package and not is_kit_spot(spot) and not spot.file.startswith((*_STDLIB, "<")):
            own.append(spot)
    return own or installed


def _package(spot: Spot) -> str:
    """Return the installed package, or module, that a spot is in; empty if it is in none."""
    for directory in INSTALLED:
        if spot.file.startswith(directory) and not is_kit_spot(spot):
            inside = spot.file.removeprefix(directory)
            return inside.partition(os.sep)[0].removesuffix(".py")
    return ""


def _describe(spot: Spot) -> str:
    source = linecache.getline(spot.file, spot.line).strip()
    return f"{relative(spot.file)}:{spot.line} in {spot.function}: {source}"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of code.

    Attributes:
        file: its path, as the interpreter knows it.
        line: its number, from 1.
        function: the function it is in.
    """

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{relative(self.file)}:{self.line} in {self.function}"


def relative(file: str) -> str:
    """Return `file` relative to the current directory, if it lies inside."""
    path = Path(file)
    # The working directory may have been deleted, or the file lie outside it.
    with suppress(OSError, ValueError):
        path = path.relative_to(Path.cwd())
    return str(path)


def calling_place(frame: FrameType) -> Place:
    """Return the innermost place, from `frame` outwards, that is no plumbing.

    Plumbing is the standard library, the HTTP libraries and the kit. A call stack made of
    nothing else, such as `executor.submit(session.get, url)`, gives the outermost call into an
    HTTP library, or `frame` where there is none.
    """
    fallback = frame
    current: FrameType | None = frame
    while current is not None:
        module = current.f_globals.get("__name__", "")
        library = module.partition(".")[0]
        if library in HTTP_LIBRARIES:
            fallback = current
        elif library not in sys.stdlib_module_names and not _is_kit(module):
            return _place(current)
        current = current.f_back
    return _place(fallback)


def _is_kit(module: str) -> bool:
    return f"{module}.".startswith("modeltest.") and not f"{module}.".startswith("modeltest.demo.")


def _place(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
