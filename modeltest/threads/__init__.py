"""The kit's own threads, and what can be told of others: where they stand, and how they end."""

from modeltest.threads.bounded import call_within
from modeltest.threads.kit import KitThread, copies_came_back, leave_copy
from modeltest.threads.others import (
    adapter_threads,
    is_adapter_thread,
    is_kit_thread,
    other_threads,
    threads_as_daemons,
    unwind,
)
from modeltest.threads.pending import Hang, Pending
from modeltest.threads.place import HTTP_LIBRARIES, Place, calling_place
from modeltest.threads.progress import Progress
from modeltest.threads.stacks import (
    Spot,
    awaits,
    lines_of,
    position,
    raised_at,
    stack,
    waits_at,
)
from modeltest.threads.worker import Worker, outcome

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
    "awaits",
    "call_within",
    "calling_place",
    "copies_came_back",
    "is_adapter_thread",
    "is_kit_thread",
    "leave_copy",
    "lines_of",
    "other_threads",
    "outcome",
    "position",
    "raised_at",
    "stack",
    "threads_as_daemons",
    "unwind",
    "waits_at",
]
