"""An adapter under test, and checks made for a test."""

from collections.abc import Callable
from typing import Any

from modeltest.delivery import ServedContext, Target
from modeltest.demo.acme import AcmeModel
from modeltest.harness import Check, Level, Need


def new_model(base_url: str, client: Any) -> AcmeModel:
    return AcmeModel(base_url, client, "key")


def event(index: int) -> bytes:
    return b'data: {"text": "word %d "}\n\n' % index


def target(**values: Any) -> Target:
    """Return the careful adapter of the demo, with these values."""
    return Target(**{"new_model": new_model, "event": event, **values})


def check(
    run: Callable[[ServedContext], None], level: Level = Level.MUST, needs: tuple[Need, ...] = ()
) -> Check:
    """Return a check that runs `run`."""
    return Check(
        id="group/name",
        level=level,
        requirement="It holds.",
        why="It matters.",
        fix="mend it",
        needs=needs,
        example=None,
        judge=run,
    )
