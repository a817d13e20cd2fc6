"""Whether Python's threads were replaced by green ones, which switch only when they want to."""

from __future__ import annotations

import _thread
import sys

_start_new_thread = _thread.start_new_thread


def replaced_threads() -> str:
    """Say who has replaced Python's threads, and when that is too late; "" if nobody has.

    The kit waits for what hangs on threads that the system switches. Under eventlet there are
    none. Under gevent the kit works if everything was patched before it was imported.
    """
    patcher = sys.modules.get("eventlet.patcher")
    is_patched = getattr(patcher, "is_monkey_patched", None)
    if callable(is_patched) and is_patched("thread"):
        return "eventlet has replaced Python's threads: modeltest cannot run under it"
    if _thread.start_new_thread is not _start_new_thread:
        who = "gevent" if "gevent.monkey" in sys.modules else "something"
        return (
            f"{who} has replaced Python's threads after modeltest was imported: patch first, "
            "before anything else is imported, or not at all"
        )
    return ""
