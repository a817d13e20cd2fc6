"""The author's `new_model` and `event`, in whichever form they were given."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from modeltest.harness import SetUpError


def hook(case: object, name: str, *parameters: str) -> Callable[..., Any]:
    """Return the attribute `name` of `case` as something to be called with `parameters`.

    It may be a method, staticmethod, classmethod, class, partial, function, or any callable
    object. A plain function set as a class attribute becomes a method by Python's rules, though
    it was not written as one; its signature tells.

    Raises:
        SetUpError: it is missing, cannot be called, or takes other parameters.
    """
    owner, wanted = type(case).__name__, f"{name}({', '.join(parameters)})"
    try:
        given = inspect.getattr_static(case, name)
    except AttributeError:
        raise SetUpError(f"{owner} has no {name}: define {wanted}") from None
    forms = _forms(case, name, given)
    for form in forms:
        if not callable(form):
            raise SetUpError(f"{owner}.{name} is {form!r}: expected {wanted}")
        if _takes(form, parameters):
            fitting: Callable[..., Any] = form
            return fitting
    raise SetUpError(f"{owner}.{name} takes {_signature(forms[-1])}: expected {wanted}")


def event_bytes(event: Callable[[int], object], index: int, *, blank_line: bool) -> bytes:
    """Return `event(index)` as bytes.

    Args:
        event: the author's.
        index: which event.
        blank_line: it has to end with one, as a server-sent event does.

    Raises:
        SetUpError: it raised, gave no str or bytes, or lacks its blank line.
    """
    try:
        given = event(index)
    except Exception as error:
        raise SetUpError(f"event({index}) raised {error!r}") from error
    if isinstance(given, str):
        given = given.encode()
    if not isinstance(given, bytes | bytearray):
        raise SetUpError(f"event({index}) gave {given!r}: expected str or bytes")
    if not given:
        raise SetUpError(f"event({index}) gave nothing: expected the bytes of one event")
    if blank_line and not given.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")):
        raise SetUpError(
            f"event({index}) gave {bytes(given[-80:])!r}: expected a server-sent event with its "
            r"blank line, such as 'data: {…}\n\n'. A provider that sends lines of JSON, or another "
            "framing, needs wire, not event: see 'Writing your own format' in the pages."
        )
    return bytes(given)


def _forms(case: object, name: str, given: Any) -> list[Any]:
    """Return what may be meant by an attribute, the likelier first."""
    # Python 3.14 binds a partial like a function, and 3.13 warns of it when one is looked up.
    if not isinstance(given, FunctionType | functools.partial):
        return [getattr(case, name)]
    method = MethodType(given, case)
    takes_self = next(iter(_parameters(given)), "") == "self"
    return [method] if takes_self else [given, method]


def _takes(function: Callable[..., Any], arguments: tuple[str, ...]) -> bool:
    signature = _signature(function)
    if signature is None:
        return True  # a built-in that does not say: calling it will tell
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except ValueError:
        return None


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    signature = _signature(function)
    return () if signature is None else tuple(signature.parameters)
