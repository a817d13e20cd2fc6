"""What an adapter shows of itself. It is looked at where it runs, for a look can run its code."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeltest.text import short_repr

if TYPE_CHECKING:
    from modeltest.consumer.hooks import AdapterHooks


@dataclass(frozen=True)
class AdapterInfo:
    """What was seen.

    Attributes:
        model: the adapter, as text.
        opener: what begins a stream: "stream()", or "open_stream()" where there is that hook.
        can_stream: whether there is something that begins one.
        takes_cancel: whether that has a parameter `cancel`.
        is_asynchronous: whether it is a coroutine function, or an async generator function.
        is_generator: whether it is a plain generator function.
    """

    model: str
    opener: str
    can_stream: bool
    takes_cancel: bool
    is_asynchronous: bool
    is_generator: bool


def look_at(model: Any, hooks: AdapterHooks) -> AdapterInfo:
    """Look at an adapter; what its `stream` raises when it is looked up passes through."""
    begin = hooks.open_stream or getattr(model, "stream", None)
    return AdapterInfo(
        short_repr(model),
        hooks.opener,
        callable(begin),
        takes_cancel(model, hooks),
        inspect.isasyncgenfunction(begin) or inspect.iscoroutinefunction(begin),
        inspect.isgeneratorfunction(begin),
    )


def takes_cancel(model: Any, hooks: AdapterHooks) -> bool:
    """Tell whether what begins a stream has a parameter named `cancel`."""
    try:
        begin = hooks.open_stream or model.stream
        return "cancel" in inspect.signature(begin).parameters
    except Exception:  # no signature, or an attribute that raises when it is looked up
        return False
