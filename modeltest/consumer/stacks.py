"""Where threads stand: the stack of a hang, and the line a leaked thread waits at."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_KIT = str(Path(__file__).parents[1]) + os.sep
_LIBRARIES = tuple(
    str(Path(path)) + os.sep
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib")}
)


def waits_at(thread: threading.Thread) -> str:
    """Return the line of the adapter that `thread` is at: "acme/adapter.py:55: queue.put(x)".

    The innermost frame outside the standard library, installed packages and the kit; the
    innermost of all if there is none. Empty once the thread has ended.
    """
    frames = list(_frames(thread.ident))
    own = [frame for frame in frames if _is_own(frame)]
    return "".join(_describe(frame) for frame in (own or frames)[:1])


def stack(ident: int | None, limit: int = 8) -> list[str]:
    """Return the innermost `limit` frames of a thread, innermost last, the kit's left out."""
    frames = [f for f in _frames(ident) if not f.f_code.co_filename.startswith(_KIT)]
    return [_describe(frame) for frame in reversed(frames[:limit])]


def position(ident: int | None) -> tuple[int, int] | None:
    """Return a mark of where a thread is; the same mark twice means that it has not moved."""
    frame = sys._current_frames().get(ident or 0)  # the only way to look into a thread
    return None if frame is None else (id(frame), frame.f_lasti)


def _frames(ident: int | None) -> Iterator[FrameType]:
    frame = sys._current_frames().get(ident or 0)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_own(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return not file.startswith((*_LIBRARIES, _KIT, "<"))


def _describe(frame: FrameType) -> str:
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, line).strip()
    return f"{shorten(file)}:{line} in {frame.f_code.co_name}: {source}"


def shorten(file: str) -> str:
    """Return `file` relative to the current directory, if it lies inside."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file
