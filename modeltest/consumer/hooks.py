"""How the kit begins a stream, and reads its events, where the adapter has its own ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from modeltest.interface import Event
from modeltest.text import short_repr

if TYPE_CHECKING:
    from modeltest.interface import CancelToken, Request


_MOST = 10_000
"""Events that one event may stand for; none of a real adapter's stands for a hundredth."""

EXPECTED = "expected an event of modeltest, several, or None"


class HookError(Exception):
    """The test case's own hook failed; the text says how."""


@dataclass(frozen=True)
class AdapterHooks:
    """The test case's own way to begin a stream and to read its events.

    Attributes:
        open_stream: `(model, request)` → the stream; None calls `model.stream(request)`. With a
            parameter `cancel` it is given the token.
        translate: `(event)` → one of the kit's events, several in order, or None for nothing;
            None takes the adapter's events as they are.
    """

    open_stream: Callable[..., Any] | None = None
    translate: Callable[[Any], Any] | None = None

    @property
    def opener(self) -> str:
        """What begins a stream, as messages to the author name it."""
        return "stream()" if self.open_stream is None else "open_stream()"

    def begin(self, model: Any, request: Request, token: CancelToken | None = None) -> Any:
        """Begin a stream, handing over the token if there is one."""
        extra = {} if token is None else {"cancel": token}
        if self.open_stream is None:
            return model.stream(request, **extra)
        return self.open_stream(model, request, **extra)

    def translated(self, event: Any) -> list[Any]:
        """Return what the adapter's own `event` stands for; each is yet to be validated.

        Raises:
            HookError: `translate` raised, or gave what is neither an event nor several.
        """
        assert self.translate is not None, "asked only where there is the hook"
        try:
            made = self.translate(event)
            if made is None:
                return []
            if isinstance(made, Event):
                return [made]
            several = isinstance(made, Iterable) and not isinstance(made, str | bytes)
            found = [*islice(made, _MOST + 1)] if several else []
        except Exception as error:
            raise HookError(f"translate({short_repr(event)}) raised {short_repr(error)}") from None
        if not several or len(found) > _MOST:
            got = f"more than {_MOST:,} events" if several else short_repr(made)
            raise HookError(f"translate({short_repr(event)}) gave {got}; {EXPECTED}")
        return found
