"""What lets the packages be tried thousands of times: no certificates are loaded, nothing logged."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock


@contextmanager
def quick_and_quiet() -> Iterator[None]:
    """Make clients that trust nobody, and keep the packages' logs quiet, within the block.

    Every client loads the certificates of all authorities, twice even, and most of a run would go
    there; no connection here is encrypted.
    """
    methods = ("load_verify_locations", "load_default_certs")
    logging.disable(logging.CRITICAL)
    try:
        with mock.patch.multiple(ssl.SSLContext, **dict.fromkeys(methods, _load_nothing)):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _load_nothing(*_args: Any, **_options: Any) -> None:
    pass
