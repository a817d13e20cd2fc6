"""The adapter under test, and what its author says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeltest.consumer import AdapterHooks, SyncConsumer
from modeltest.harness import Secret
from modeltest.interface import ConfigError, ModelError, Request, user
from modeltest.transports import RequestsTransport

if TYPE_CHECKING:
    from modeltest.consumer import Consumer
    from modeltest.transports import Transport


HI = Request(messages=(user("hi"),))
"""The request streamed unless the author gives another."""


_MOST = 8
"""Retries whose back-off is waited for: a minute or two in all."""


@dataclass(frozen=True)
class Target:
    """What the checks are run on; the attributes of a test case, as plain values.

    Attributes:
        new_model: `(base_url, client)` → the adapter.
        event: i → the i-th server-sent event of an endless text response, as bytes.
        transport: where the client comes from.
        consumer: makes the side on which the adapter runs.
        request: what is streamed.
        model_error: what the adapter raises when a turn fails.
        config_error: what it raises when a request cannot be sent.
        wire: the provider's wire format, or None.
        api_key: the secret given to the adapter.
        retries: extra requests the adapter may send before the first event.
        idle_timeout: seconds of silence after which it gives up, or None.
        refused_tool_names: names it refuses by a rule of its own.
        accepted_tool_names: names it accepts by a rule of its own.
        deadline: seconds within which something must happen; an upper limit only.
        open_stream: `(model, request)` → the stream; None calls `model.stream(request)`.
        translate: `(event)` → the adapter's own event as the kit's; None takes it as it is.
    """

    new_model: Callable[[str, Any], Any]
    event: Callable[[int], bytes]
    transport: Transport = field(default_factory=RequestsTransport)
    consumer: type[Consumer] = SyncConsumer
    request: Request = HI
    model_error: type[BaseException] | tuple[type[BaseException], ...] = ModelError
    config_error: type[BaseException] | tuple[type[BaseException], ...] = ConfigError
    wire: Any = None
    api_key: str = field(default="modeltest-secret-key-3f9c2a", repr=False)
    retries: int = 0
    idle_timeout: float | None = None
    refused_tool_names: tuple[str, ...] = ()
    accepted_tool_names: tuple[str, ...] = ()
    deadline: float = 2.0
    open_stream: Callable[..., Any] | None = None
    translate: Callable[[Any], Any] | None = None

    @property
    def event_loop(self) -> bool:
        """Whether the adapter runs on an event loop."""
        return self.consumer.runs_on_event_loop

    def new_consumer(self) -> Consumer:
        """Return a fresh side on which the adapter runs, with the author's hooks."""
        return self.consumer(AdapterHooks(self.open_stream, self.translate))

    @property
    def back_off(self) -> float:
        """Seconds that its retries may wait in all: half a second, doubled each time."""
        return 0.5 * (2.0 ** min(self.retries, _MOST) - 1)

    @property
    def secret(self) -> Secret:
        """The `api_key`, to be recognised wherever it goes."""
        return Secret(self.api_key)
