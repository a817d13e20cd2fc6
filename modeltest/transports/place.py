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

_OWN_PACKAGE = __name__.rpartition(".")[0]


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
        path = Path(self.file)
        # The working directory may have been deleted, or the file lie outside it.
        with suppress(OSError, ValueError):
            path = path.relative_to(Path.cwd())
        return f"{path}:{self.line} in {self.function}"


def calling_place(frame: FrameType) -> Place:
    """Return the innermost place, from `frame` outwards, that is no plumbing.

    Plumbing is the standard library, the HTTP libraries and this package. A call stack made
    of nothing else, such as `executor.submit(session.get, url)`, gives the outermost call into
    an HTTP library, or `frame` where there is none.
    """
    fallback = frame
    current: FrameType | None = frame
    while current is not None:
        module = current.f_globals.get("__name__", "")
        library = module.partition(".")[0]
        if library in HTTP_LIBRARIES:
            fallback = current
        elif library not in sys.stdlib_module_names and not module.startswith(_OWN_PACKAGE):
            return _place(current)
        current = current.f_back
    return _place(fallback)


def _place(frame: FrameType) -> Place:
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
