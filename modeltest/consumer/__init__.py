"""Drives an adapter as its user would; sync and async behind one face."""

from modeltest.consumer.adapter_info import AdapterInfo
from modeltest.consumer.asynchronous import AsyncConsumer
from modeltest.consumer.consumer import Consumer
from modeltest.consumer.handle import ConsumerError
from modeltest.consumer.hooks import AdapterHooks
from modeltest.consumer.log import Log
from modeltest.consumer.stream import Stream
from modeltest.consumer.sync import SyncConsumer

__all__ = [
    "AdapterHooks",
    "AdapterInfo",
    "AsyncConsumer",
    "Consumer",
    "ConsumerError",
    "Log",
    "Stream",
    "SyncConsumer",
]
