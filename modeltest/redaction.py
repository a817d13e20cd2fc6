"""What of a request is shown: all but what its names say is a credential."""

from __future__ import annotations

import re
from collections.abc import Iterable

REDACTED = "[redacted]"
"""Stands for a credential."""

_SHOWN = 600
"""Bytes of a request's body that are shown."""

_CREDENTIAL = re.compile(r"auth|key|token|secret|cookie|credential|signature|passw", re.IGNORECASE)
_USER = re.compile(r"//[^/@?#]*@")
_PARAMETER = re.compile(r"([?&;])([^=&;#]*)=([^&;#]*)")


def is_credential(name: str) -> bool:
    """Return whether a header or a query parameter of this name holds a credential."""
    return _CREDENTIAL.search(name) is not None


def shown_target(target: str) -> str:
    """Return a request's target, its query included, without credentials."""
    shown = _PARAMETER.sub(
        lambda found: f"{found[1]}{found[2]}={REDACTED if is_credential(found[2]) else found[3]}",
        target,
    )
    return _USER.sub(f"//{REDACTED}@", shown)


def shown_headers(headers: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each header, without credentials."""
    return [f"{name}: {REDACTED if is_credential(name) else value}" for name, value in headers]


def shown_request(method: str, target: str, body: bytes) -> str:
    """Return a request without its headers and credentials, a long body shortened."""
    text = body[:_SHOWN].decode("utf-8", "backslashreplace")
    more = f"… ({len(body)} bytes)" if len(body) > _SHOWN else ""
    line = f"{method} {shown_target(target)}"
    return f"{line}\n{text}{more}" if text else line
