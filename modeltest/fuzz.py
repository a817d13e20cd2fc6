"""Bodies that no provider would send on purpose: Hypothesis strategies, and a plain fallback.

A reader must make of any bytes an event or a declared error, and come to an end. The strategies
need Hypothesis (`pip install modeltest-kit[hypothesis]`); `seeded_bodies` and `retyped_bodies`
do not.
"""

from modeltest.corpus import (
    INSERTED,
    any_bodies,
    arbitrary_bytes,
    chunkings,
    event_sequences,
    mutated_bodies,
    re_encoded_bodies,
    retyped_bodies,
    seeded_bodies,
    try_bodies,
)

respelled_bodies = re_encoded_bodies
"""The name of `re_encoded_bodies` in earlier versions."""

__all__ = [
    "INSERTED",
    "any_bodies",
    "arbitrary_bytes",
    "chunkings",
    "event_sequences",
    "mutated_bodies",
    "re_encoded_bodies",
    "respelled_bodies",
    "retyped_bodies",
    "seeded_bodies",
    "try_bodies",
]
