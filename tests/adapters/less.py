"""Adapters that do less than others, or estimate what the provider does not tell: correct ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from modeltest import Event, Finish, Request, TextDelta, Usage

from .openai_chat import OpenAIChatModel


class TextOnlyModel(OpenAIChatModel):
    """Gives text and an end. A call is beyond it, and so is a request with more than a text."""

    def stream(self, request: Request, **options: Any) -> Iterator[Event]:
        """Yield text, and a Finish that says no more than that it is over.

        Raises:
            NotImplementedError: the request or the answer has more than text in it.
        """
        if request.tools or [message.role for message in request.messages] != ["user"]:
            raise NotImplementedError("text only")
        with closing(super().stream(request, **options)) as events:
            for event in events:
                if isinstance(event, Finish):
                    yield Finish("stop")
                elif isinstance(event, TextDelta):
                    yield event
                else:
                    raise NotImplementedError(f"text only, got {event!r}")


class EstimatingModel(OpenAIChatModel):
    """Counts tokens by itself, roughly, where the provider tells none."""

    def stream(self, request: Request, **options: Any) -> Iterator[Event]:
        """Yield the events; a Finish without usage gets an estimate."""
        with closing(super().stream(request, **options)) as events:
            for event in events:
                if isinstance(event, Finish) and event.usage == Usage():
                    usage = Usage(random.randint(1, 10**6), random.randint(1, 10**6))  # noqa: S311
                    yield Finish(event.reason, event.raw, usage)
                else:
                    yield event
