"""What the kit needs of the process, and exceptions that neither it nor the adapter raised."""

from __future__ import annotations

import errno
import os
import sysconfig
import traceback
from pathlib import Path

from modeltest.harness import SetUpError
from modeltest.threads import chain_of, replaced_threads, shown

_DESCRIPTORS = 64
"""How many files and sockets a check and the adapter may open, with some to spare."""


def expect_usable_process() -> None:
    """Expect what every check needs of the process it runs in.

    Raises:
        SetUpError: threads were replaced by green ones, or few files can be opened.
    """
    replaced = replaced_threads()
    if replaced:
        raise SetUpError(replaced)
    free = _free_descriptors()
    if free is not None and free < _DESCRIPTORS:
        raise SetUpError(
            f"the process can open {max(0, free)} more files and sockets; the checks need "
            f"{_DESCRIPTORS}: raise the limit (`ulimit -n 1024`), or close what is open"
        )


def _free_descriptors() -> int | None:
    """Return how many more files the process can open; None where the system does not tell."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return None if limit == resource.RLIM_INFINITY else limit - len(os.listdir("/dev/fd"))  # noqa: PTH208 - counted, not opened
    except OSError as error:
        return 0 if error.errno in _FULL else None
    except ImportError:  # Windows
        return None


_FULL = (errno.EMFILE, errno.ENFILE)


KITS_FAULT = "modeltest failed here, not the adapter; please report it."


def whose_fault(error: BaseException) -> str:
    """Say of an exception that came out of a check who is to be asked about it."""
    links = chain_of(error)
    if any(isinstance(link, OSError) and link.errno in _FULL for link in links):
        return (
            "The process ran out of file descriptors: raise the limit (`ulimit -n 1024`). "
            "Neither modeltest nor the adapter is judged by it."
        )
    for link in links[:1]:
        frames = traceback.extract_tb(link.__traceback__)
        if frames and _is_foreign(frames[-1].filename):
            where = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}"
            return (
                f"{shown(link)} was raised by {where}, which runs inside modeltest's own calls: "
                "an audit hook, or a function that was replaced for the whole process."
            )
    return KITS_FAULT


def _is_foreign(file: str) -> bool:
    """Tell whether a file belongs neither to the kit nor to the language."""
    if file.startswith((_KIT, "<frozen")):
        return False
    return not file.startswith(_LIBRARY) or file.startswith(_INSTALLED)


_KIT = str(Path(__file__).parents[1]) + os.sep
_LIBRARY, _INSTALLED = (
    tuple({sysconfig.get_path(name) + os.sep for name in names})
    for names in (("stdlib", "platstdlib"), ("purelib", "platlib"))
)
