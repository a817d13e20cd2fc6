"""Where in the code under test something happened: the innermost line that is not plumbing."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

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

_KIT = __name__.partition(".")[0]
_DEMO = f"{_KIT}.demo"
"""Not the kit's code but adapters, though they come with it."""


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
    return f"{module}.".startswith(f"{_KIT}.") and not f"{module}.".startswith(f"{_DEMO}.")


def _place(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
