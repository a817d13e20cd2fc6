"""Processes that do nothing but keep the processors busy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

# Its standard input ends when whoever started it ends, even by SIGKILL: no loop is left over.
# An interrupt from the keyboard goes to it as well, but is for the one who started it.
_LOOP = """
import os, signal, sys, threading

def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)

signal.signal(signal.SIGINT, signal.SIG_IGN)
threading.Thread(target=end_with_parent).start()
while True:
    pass
"""


@contextmanager
def busy_loops(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run so many busy loops inside the block; they end with it, however it ends."""
    with ExitStack() as started:
        loops = []
        for _ in range(count):
            command = [sys.executable, "-c", _LOOP]
            loop = started.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
            started.callback(loop.kill)  # before the Popen's own exit, which waits for its end
            loops.append(loop)
        yield loops
