"""Drives an adapter as its user would; sync and async behind one face."""

from modeltest.consumer.consumers import AsyncConsumer, Consumer, SyncConsumer
from modeltest.consumer.given import short_repr
from modeltest.consumer.hand import ConsumerError
from modeltest.consumer.log import Log, without_tracebacks
from modeltest.consumer.look import Look
from modeltest.consumer.stream import Stream
from modeltest.threads import (
    Hang,
    Pending,
    adapter_threads,
    call_within,
    is_adapter_thread,
    is_kit_thread,
    other_threads,
    stack,
    threads_as_daemons,
    unwind,
    waits_at,
)

__all__ = [
    "AsyncConsumer",
    "Consumer",
    "ConsumerError",
    "Hang",
    "Log",
    "Look",
    "Pending",
    "Stream",
    "SyncConsumer",
    "adapter_threads",
    "call_within",
    "is_adapter_thread",
    "is_kit_thread",
    "other_threads",
    "short_repr",
    "stack",
    "threads_as_daemons",
    "unwind",
    "waits_at",
    "without_tracebacks",
]
