"""What a test case gives the checks: its attributes, each one checked."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection
from typing import Any

from modeltest.encoding import Framing, WireFormat
from modeltest.harness import SHORTEST, Secret, SetUpError
from modeltest.interface import Request
from modeltest.testcases.hooks import event_bytes, hook
from modeltest.transports import Transport


def settings_of(case: Any) -> dict[str, Any]:
    """Return the attributes of a test case as the plain values that checks work on, by name.

    Raises:
        SetUpError: one of them cannot be used; the text says what is expected.
    """
    given = {name: _given(case, name) for name in _EXPECTED}
    for name, (fits, expected) in _EXPECTED.items():
        if not fits(given[name]):
            got = "one that does not fit" if name == "api_key" else repr(given[name])
            text = f"{type(case).__name__}.{name}: expected {expected}, got {got}"
            raise SetUpError(Secret(str(given["api_key"])).redact(text))
    given["deadline"] = min(given["deadline"] * deadline_scale(), HOUR)
    return dict(
        new_model=hook(case, "new_model", "base_url", "client"),
        event=_event_of(case, given["wire"]),
        open_stream=_optional(case, "open_stream", "model", "request"),
        translate=_translate_of(case),
        consumer=case._consumer,
        **given,
    )


# What the attributes may be


def _are_exceptions(value: object) -> bool:
    types = value if isinstance(value, tuple) else (value,)
    return bool(types) and all(isinstance(t, type) and issubclass(t, BaseException) for t in types)


def _are_names(value: object) -> bool:
    return (
        isinstance(value, Collection)
        and not isinstance(value, str)
        and all(isinstance(name, str) for name in value)
    )


def _are_seconds(value: object) -> bool:
    return isinstance(value, int | float) and value is not True and 0 < value <= HOUR


HOUR = 3600
"""Seconds; a check that waited longer for what never comes would count as hanging itself."""
_SECONDS = "seconds above 0, an hour at most"
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "transport": (
        lambda value: isinstance(value, Transport),
        "a Transport such as RequestsTransport()",
    ),
    "wire": (
        lambda value: value is None or isinstance(value, WireFormat),
        "a WireFormat such as OpenAIChat(), or None",
    ),
    "request": (lambda value: isinstance(value, Request), "a Request"),
    "model_error": (_are_exceptions, "an exception class or a tuple of them"),
    "config_error": (_are_exceptions, "an exception class or a tuple of them"),
    "api_key": (
        lambda value: isinstance(value, str) and len(value) >= SHORTEST,
        f"a text of {SHORTEST} characters or more, which the kit can recognise where it goes",
    ),
    "retries": (lambda value: isinstance(value, int) and value >= 0, "a number, 0 or more"),
    "idle_timeout": (
        lambda value: value is None or _are_seconds(value),
        f"{_SECONDS}, or None",
    ),
    "refused_tool_names": (_are_names, "a tuple of names"),
    "accepted_tool_names": (_are_names, "a tuple of names"),
    "deadline": (_are_seconds, _SECONDS),
}
"""Attribute → whether a value fits, and what is expected."""


def _given(case: Any, name: str) -> Any:
    """Return an attribute, ready to be used.

    Raises:
        SetUpError: the author's property raised, or his wire format lacks something.
    """
    try:
        value = getattr(case, name)
        # A class may be given without its parentheses.
        is_bare = isinstance(value, type) and issubclass(value, Transport | WireFormat)
        return value() if is_bare else value
    except Exception as error:
        said = str(error) if isinstance(error, TypeError) else repr(error)
        raise SetUpError(f"{type(case).__name__}.{name}: {said}") from error


def _event_of(case: Any, wire: WireFormat | None) -> Callable[[int], bytes]:
    """Return the source of the endless response: the author's own, else the wire's."""
    if wire is not None and not hasattr(case, "event"):
        return wire.event
    event = hook(case, "event", "i")
    blank_line = wire is None or wire.framing is Framing.SSE
    return lambda index: event_bytes(event, index, blank_line=blank_line)


def _optional(case: Any, name: str, *parameters: str) -> Callable[..., Any] | None:
    """Return a hook that the author need not give, or None."""
    return None if getattr(case, name) is None else hook(case, name, *parameters)


def _translate_of(case: Any) -> Callable[..., Any] | None:
    translate = _optional(case, "translate", "event")
    if inspect.iscoroutinefunction(translate) or inspect.isasyncgenfunction(translate):
        raise SetUpError(
            f"{type(case).__name__}.translate is asynchronous: expected a plain function, which "
            "gives an event of modeltest, several, or None"
        )
    return translate


def deadline_scale() -> float:
    """Return what the environment variable MODELTEST_DEADLINE_SCALE multiplies deadlines by.

    Raises:
        SetUpError: it is no number above 0.
    """
    text = os.environ.get("MODELTEST_DEADLINE_SCALE", "1")
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not 0 < scale < math.inf:
        raise SetUpError(f"MODELTEST_DEADLINE_SCALE: expected a number above 0, got {text!r}")
    return scale
