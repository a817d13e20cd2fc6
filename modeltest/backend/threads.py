"""The kit's own threads, told apart from the adapter's."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any


class KitThread(threading.Thread):
    """A thread of the kit: never taken for one of the adapter's, whatever its name.

    It is a daemon: if the code that it runs hangs, the process can exit all the same.
    """

    def __init__(self, target: Callable[..., object], *args: Any, name: str) -> None:
        """Prepare to call `target(*args)`; it is not started yet."""
        super().__init__(target=target, args=args, name=name, daemon=True)

    def run(self) -> None:
        """Call the target; a SystemExit ends the thread without a word, whatever hooks are set."""
        with contextlib.suppress(SystemExit):
            super().run()
