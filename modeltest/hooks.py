"""The author's `new_model` and `event`, in whichever form they were given."""

from __future__ import annotations

import inspect
from typing import Any

from modeltest.checks import SetUpError


class Hook:
    """Calls an attribute that may be a method, staticmethod, class, partial or function.

    A plain function set as a class attribute becomes a method by Python's rules; its
    signature tells whether it wants `self`.
    """

    def __init__(self, case: object, name: str, parameters: tuple[str, ...]) -> None:
        """Look `name` up on `case`.

        Raises:
            SetUpError: it is missing, cannot be called, or takes other parameters.
        """
        self._name = name
        self._parameters = parameters
        self._call = self._find(case)

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        return self._call(*arguments)

    def _find(self, case: object) -> Any:
        wanted = f"{self._name}({', '.join(self._parameters)})"
        owner = type(case).__name__
        try:
            raw = inspect.getattr_static(case, self._name)
        except AttributeError:
            raise SetUpError(f"{owner} has no {self._name}: define {wanted}") from None
        bound = getattr(case, self._name)
        if not callable(bound):
            raise SetUpError(f"{owner}.{self._name}: expected {wanted}, got {bound!r}")
        candidates = [raw, bound] if inspect.isfunction(raw) else [bound]
        fitting = [candidate for candidate in candidates if self._fits(candidate)]
        if not fitting:
            raise SetUpError(
                f"{owner}.{self._name}{_signature(bound)} cannot be called with "
                f"{len(self._parameters)} positional arguments: expected {wanted}"
            )
        # Both fit where there are defaults or *args: then `self` in front decides.
        return fitting[-1] if _takes_self(raw) else fitting[0]

    def _fits(self, candidate: Any) -> bool:
        try:
            inspect.signature(candidate).bind(*self._parameters)
        except TypeError:
            return False
        except ValueError:
            return True  # a built-in without a signature: calling it will tell
        return True


def event_bytes(event: object, index: int) -> bytes:
    """Return what `event(index)` gave as bytes.

    Raises:
        SetUpError: it is no str or bytes, is empty, or lacks its blank line.
    """
    if isinstance(event, str):
        event = event.encode()
    if not isinstance(event, bytes | bytearray):
        raise SetUpError(f"event({index}) gave {event!r}: expected str or bytes")
    data = bytes(event)
    if not data.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")):
        raise SetUpError(
            f"event({index}) gave {data[-80:]!r}: expected a server-sent event with its blank "
            r"line, such as 'data: {…}\n\n'"
        )
    return data


def _takes_self(raw: Any) -> bool:
    if not inspect.isfunction(raw):
        return False
    first = next(iter(inspect.signature(raw).parameters), "")
    return first == "self"


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return "(…)"
