"""How pytest-xdist spreads the tests, where it is installed; unittest does not read this file."""

from __future__ import annotations

import gc
import os

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Let idle processes take tests over from busy ones.

    The tests of a class stay together at first, so that what it sets up is set up about once.
    """
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return more processes than there are cores: a broken adapter is waited for, half of the time."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_finish() -> None:
    """Take what collecting the tests made out of the collector's sight.

    The kit collects garbage before each case, which would go through thousands of test items.
    """
    gc.collect()
    gc.freeze()
