"""What can be told of an adapter by looking at it: done where it runs, for a look runs its code."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from modeltest.consumer.given import short_repr


@dataclass(frozen=True)
class Look:
    """What was seen.

    Attributes:
        model: the adapter, as text.
        has_stream: whether it has a method `stream`.
        takes_cancel: whether that has a parameter `cancel`.
        is_asynchronous: whether it is a coroutine function, or an async generator function.
        is_generator: whether it is a plain generator function.
    """

    model: str
    has_stream: bool
    takes_cancel: bool
    is_asynchronous: bool
    is_generator: bool


def look_at(model: Any) -> Look:
    """Look at an adapter; what its `stream` raises when it is looked up passes through."""
    stream = getattr(model, "stream", None)
    return Look(
        short_repr(model),
        callable(stream),
        takes_cancel(model),
        inspect.isasyncgenfunction(stream) or inspect.iscoroutinefunction(stream),
        inspect.isgeneratorfunction(stream),
    )


def takes_cancel(model: Any) -> bool:
    """Tell whether `model.stream` has a parameter named `cancel`."""
    try:
        return "cancel" in inspect.signature(model.stream).parameters
    except Exception:  # no signature, or an attribute that raises when it is looked up
        return False
