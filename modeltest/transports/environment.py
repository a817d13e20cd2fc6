"""The author's environment, kept out of the tests and given back as it was."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

_NEUTRAL: dict[str, str | None] = {
    **dict.fromkeys(_PROXIES),
    **dict.fromkeys(name.lower() for name in _PROXIES),
    **dict.fromkeys(_CERTIFICATES),
    # "No proxy for any host", rather than no setting: without one, the proxies in the system
    # settings of macOS and Windows come in.
    "NO_PROXY": "*",
    "no_proxy": "*",
    "NETRC": os.devnull,
}
"""What the variables are set to; None stands for unset."""

_lock = threading.Lock()
_users = 0
_saved: tuple[dict[str, str | None], float | None] = ({}, None)


@contextmanager
def neutral_environment() -> Iterator[None]:
    """Keep the author's environment from changing what an HTTP client does.

    In the block no proxy is set and none is taken from the system's settings (`NO_PROXY=*`),
    no certificate store is named (`SSL_CERT_FILE`, `SSL_CERT_DIR`, `REQUESTS_CA_BUNDLE`,
    `CURL_CA_BUNDLE`), `.netrc` is an empty file, and sockets have no default timeout.

    Afterwards these variables and the default timeout are what they were before, whatever the
    block did to them. The environment belongs to the whole process: blocks that overlap, in
    one thread or several, share one, which ends with the last of them.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _users, _saved  # noqa: PLW0603 - so is the environment
    with _lock:
        if _users == 0:
            _saved = ({name: os.environ.get(name) for name in _NEUTRAL}, socket.getdefaulttimeout())
        _users += 1
        _apply(_NEUTRAL)
        socket.setdefaulttimeout(None)


def _leave() -> None:
    global _users  # noqa: PLW0603 - as above
    with _lock:
        _users -= 1
        if _users == 0:
            variables, timeout = _saved
            _apply(variables)
            socket.setdefaulttimeout(timeout)


def _apply(variables: Mapping[str, str | None]) -> None:
    # On Windows the two spellings of a name are one variable: they are saved, and set, alike.
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
