"""Drives an adapter as its user would; sync and async behind one face."""

from modeltest.consumer.adapter_info import AdapterInfo
from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.consumer.consumer import Consumer
from modeltest.consumer.handle import ConsumerError
from modeltest.consumer.hooks import AdapterHooks
from modeltest.consumer.log import Log, without_tracebacks
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncConsumer
from modeltest.consumer.validation import EXACT, NoEvent, as_event, is_event
from modeltest.text import short_repr
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
    "EXACT",
    "AdapterHooks",
    "AdapterInfo",
    "AsyncConsumer",
    "Consumer",
    "ConsumerError",
    "Hang",
    "Log",
    "NoEvent",
    "Pending",
    "Stream",
    "SyncConsumer",
    "adapter_threads",
    "as_event",
    "call_within",
    "is_adapter_thread",
    "is_event",
    "is_kit_thread",
    "other_threads",
    "short_repr",
    "stack",
    "threads_as_daemons",
    "unwind",
    "waits_at",
    "without_tracebacks",
]
