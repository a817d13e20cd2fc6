"""Models whose streams know of each other, or that a failure spoils."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import requests

from modeltest import (
    APIError,
    ConfigError,
    Event,
    ModelError,
    Request,
    StreamProtocolError,
    ToolUse,
)
from tests.adapters.sse import SSEDecoder

from .parrot import Parrot, Raw


class SharesItsDecoder(Parrot):
    """One decoder, and its buffer, for all streams."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.decoder = SSEDecoder()

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        for chunk in chunks:
            for sse in self.decoder.feed(chunk):
                if sse.data.strip():
                    yield self.load(sse.data)


class RenewsItsDecoder(SharesItsDecoder):
    """One decoder for all streams, a new one whenever a stream begins."""

    def ask(self, request: Request) -> requests.Response:
        self.decoder = SSEDecoder()
        return super().ask(request)


class UsesDecodersAgain(Parrot):
    """A decoder goes back to a list of free ones as it is, half an event in its buffer."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.free: list[SSEDecoder] = []

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        decoder = self.free.pop() if self.free else SSEDecoder()
        try:
            for chunk in chunks:
                for sse in decoder.feed(chunk):
                    if sse.data.strip():
                        yield self.load(sse.data)
        finally:
            self.free.append(decoder)


class ReadsTheLastResponse(Parrot):
    """The response being read is an attribute of the model."""

    def ask(self, request: Request) -> requests.Response:
        self.response = super().ask(request)
        return self.response

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        while chunk := next(super().chunks(self.response.raw), b""):
            yield chunk


class ClosesTheLastResponse(Parrot):
    """A new stream closes the one before: there is just one connection to look after."""

    last: requests.Response | None = None

    def ask(self, request: Request) -> requests.Response:
        response = super().ask(request)
        last, self.last = self.last, response
        if last is not None:
            last.close()
        return response


class BreaksItsCircuit(Parrot):
    """After a failure the model refuses everything, for ever."""

    failure: ModelError | None = None

    def stream(self, request: Request) -> Iterable[Event]:
        if self.failure is not None:
            raise ModelError("the provider failed before") from self.failure
        try:
            yield from super().stream(request)
        except ModelError as error:
            self.note(error)
            raise

    def note(self, error: ModelError) -> None:
        self.failure = error


class BreaksItsCircuitAtAServersFault(BreaksItsCircuit):
    """After an HTTP 5xx the model refuses everything, for ever."""

    def note(self, error: ModelError) -> None:
        if isinstance(error, APIError) and (error.status or 0) >= 500:
            super().note(error)


class BreaksItsCircuitWithoutAnAnswer(BreaksItsCircuit):
    """After one connection that failed the model refuses everything, for ever."""

    def note(self, error: ModelError) -> None:
        if isinstance(error.__cause__, requests.ConnectionError):
            super().note(error)


class BreaksItsCircuitAtABadEvent(BreaksItsCircuit):
    """After one event that is no JSON the model refuses everything, for ever."""

    def note(self, error: ModelError) -> None:
        if isinstance(error, StreamProtocolError):
            super().note(error)


class BreaksItsCircuitAtABadRequest(BreaksItsCircuit):
    """After one request that it refused the model refuses everything, for ever."""

    def stream(self, request: Request) -> Iterable[Event]:
        try:
            yield from super().stream(request)
        except ConfigError as error:
            self.failure = ModelError(str(error))
            raise

    def note(self, error: ModelError) -> None:
        pass


class ClosesItsClient(Parrot):
    """A stream that is closed early closes the model's client."""

    closed = False

    def stream(self, request: Request) -> Iterable[Event]:
        if self.closed:
            raise ModelError("the client is closed")
        try:
            yield from super().stream(request)
        except GeneratorExit:
            self.closed = True
            self.session.close()
            raise


class EditsTheTools(Parrot):
    """Completes a tool's schema where it stands."""

    def tool(self, name: str, parameters: Any) -> dict[str, Any]:
        parameters["additionalProperties"] = False
        return {"name": name, "schema": parameters}


class EditsTheHistory(Parrot):
    """Sends the arguments of an earlier call with the call's name among them."""

    def call(self, call: ToolUse) -> dict[str, Any]:
        call.arguments["name"] = call.name  # type: ignore[index]
        return call.arguments  # type: ignore[return-value]


class SendsItsFirstPayload(Parrot):
    """Makes a payload once, as most of it never changes."""

    made: dict[str, Any] | None = None

    def payload(self, request: Request) -> dict[str, Any]:
        self.made = self.made or super().payload(request)
        return self.made


class KeepsItsTools(Parrot):
    """Declares the tools that it was given once."""

    declared: Any = ()

    def payload(self, request: Request) -> dict[str, Any]:
        payload = super().payload(request)
        self.declared = payload["tools"] or self.declared
        return {**payload, "tools": self.declared}


class SharesItsPayload(Parrot):
    """Fills in a payload that all streams have, and sends it a little later."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.shared: dict[str, Any] = {}

    def stream(self, request: Request) -> Iterable[Event]:
        self.shared.update(super().payload(request))
        return super().stream(request)

    def payload(self, request: Request) -> dict[str, Any]:
        return self.shared


class ThinksOfOneRequest(Parrot):
    """The request is an attribute of the model while its author waits for a token."""

    def ask(self, request: Request) -> requests.Response:
        self.request = request
        time.sleep(0.02)  # as long as it takes to fetch one
        return super().ask(self.request)


class StopsAllStreams(Parrot):
    """Whoever closes a stream says so to all of the model's."""

    stopped = False

    def stream(self, request: Request) -> Iterable[Event]:
        self.stopped = False
        try:
            for event in super().stream(request):
                if self.stopped:
                    return
                yield event
        finally:
            self.stopped = True


class EditsTheToolsOfWhatIsRefused(Parrot):
    """Where the provider refuses a request, its schemas are said to be at fault."""

    def stream(self, request: Request) -> Iterable[Event]:
        try:
            yield from super().stream(request)
        except APIError:
            for tool in request.tools:
                tool.parameters.pop("required", None)  # type: ignore[attr-defined]
            raise


class OneAtATime(Parrot):
    """A lock keeps streams apart, for as long as they last."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.lock = threading.Lock()

    def stream(self, request: Request) -> Iterable[Event]:
        with self.lock:
            yield from super().stream(request)


class KeepsItsDecoderByThread(Parrot):
    """A decoder for each thread: two streams that one thread reads in turns share it."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.local = threading.local()

    def decode(self, chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        self.local.decoder = SSEDecoder()
        for chunk in chunks:
            for sse in self.local.decoder.feed(chunk):
                if sse.data.strip():
                    yield self.load(sse.data)
