"""The kit's own threads, and what is known of others: where they stand, and how they end."""

from modeltest.threads.bounded import call_within
from modeltest.threads.error_text import (
    all_said,
    carried_by,
    chain_of,
    ending_of,
    notes_of,
    parts_carried_by,
    repr_of,
    shown,
    text_of,
    without_tracebacks,
)
from modeltest.threads.kit import KitThread, Worker, copies_came_back, leave_copy, outcome
from modeltest.threads.others import (
    adapter_threads,
    is_adapter_thread,
    is_kit_thread,
    other_threads,
    threads_as_daemons,
)
from modeltest.threads.pending import Hang, Pending
from modeltest.threads.progress import Progress
from modeltest.threads.stacks import (
    HTTP_LIBRARIES,
    Place,
    Spot,
    awaits,
    calling_place,
    lines_of,
    position,
    raised_at,
    stack,
    waits_at,
)
from modeltest.threads.unwinding import unwind

__all__ = [
    "HTTP_LIBRARIES",
    "Hang",
    "KitThread",
    "Pending",
    "Place",
    "Progress",
    "Spot",
    "Worker",
    "adapter_threads",
    "all_said",
    "awaits",
    "call_within",
    "calling_place",
    "carried_by",
    "chain_of",
    "copies_came_back",
    "ending_of",
    "is_adapter_thread",
    "is_kit_thread",
    "leave_copy",
    "lines_of",
    "notes_of",
    "other_threads",
    "outcome",
    "parts_carried_by",
    "position",
    "raised_at",
    "repr_of",
    "shown",
    "stack",
    "text_of",
    "threads_as_daemons",
    "unwind",
    "waits_at",
    "without_tracebacks",
]
