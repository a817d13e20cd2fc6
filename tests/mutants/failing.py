"""Adapters for which a failing provider is no failure, or the wrong one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from modeltest import (
    APIError,
    Event,
    IncompleteResponseError,
    ModelError,
    RateLimitedError,
    Request,
    StreamProtocolError,
)
from tests.adapters.http_errors import parse_retry_after

from .cut import STOP
from .parrot import Line, Parrot, Raw

RETRIES, SILENCE = 2, 0.1


class Patient(Parrot):
    """Correct: gives up after a silence."""

    timeout: Any = SILENCE

    def ask(self, request: Request) -> requests.Response:
        send = self.session.send
        self.session.send = lambda *args, **options: send(  # type: ignore[method-assign]
            *args, **{**options, "timeout": self.timeout}
        )
        try:
            return super().ask(request)
        finally:
            del self.session.send


class Retrying(Parrot):
    """Correct: tries again what may pass, when it is told to, and only before the first event."""

    tries = RETRIES
    longest = 5.0

    def ask(self, request: Request) -> requests.Response:
        for tried in range(self.tries + 1):
            try:
                return super().ask(request)
            except APIError as error:
                wait = self.hint(error)
                if tried == self.tries or not self.may_pass(error) or wait > self.longest:
                    raise
            self.sleep(wait)
        raise AssertionError

    def may_pass(self, error: APIError) -> bool:
        return error.status in (408, 409, 429) or (error.status or 0) >= 500

    def hint(self, error: APIError) -> float:
        return getattr(error, "retry_after", None) or 0.0

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            raise RateLimitedError(
                error.status,
                error.message,
                retry_after=self.parse(raw.headers.get("Retry-After", "")),
            ) from error

    def parse(self, header: str) -> float | None:
        return parse_retry_after(header)


# Statuses


class IgnoresTheStatus(Parrot):
    """Reads a refusal as if it were an answer, and finds no end in it."""

    def check(self, raw: Raw) -> None:
        pass


class SaysNoStatus(Parrot):
    """An error of text alone."""

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            raise ModelError(error.message) from None


class SaysNoWords(Parrot):
    """An error of a number alone."""

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            raise APIError(error.status) from None


class RaisesForStatus(Parrot):
    """Leaves it to requests."""

    def ask(self, request: Request) -> requests.Response:
        response = self.session.post(
            self.url, json=self.payload(request), headers=self.headers, stream=True
        )
        response.raise_for_status()
        return response


class ParsesPages(Parrot):
    """Every refusal is JSON, as the documentation shows it."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            try:
                error = json.loads(raw.read())["error"]
            finally:
                raw.close()
            raise APIError(raw.status, error["message"])


class CarriesPages(Parrot):
    """The error has all that was said."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            raise APIError(raw.status, raw.read().decode())


class KeepsPages(Parrot):
    """The error has all that was said, as an attribute."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            body = raw.read().decode()
            raise APIError(raw.status, body[:1000], body=body)


class KeepsPagesInACause(Parrot):
    """The error is short, and the traceback has all that was said."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            body = raw.read().decode()
            raise APIError(raw.status, body[:1000]) from ValueError(body)


class Refused(ModelError):
    """An error with an object in it, as of a schema."""

    __slots__ = ("details",)

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body[:1000]}")
        self.details = {"status": status, "body": body}


class KeepsPagesInADict(Parrot):
    """The error has all that was said, under a name in an attribute."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            raise Refused(raw.status, raw.read().decode())


class KeepsItsResponse(Parrot):
    """The error has the response, and that has its body."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            body = raw.read().decode()
            error = APIError(raw.status, body[:1000])
            error.response = SimpleNamespace(text=body)  # type: ignore[attr-defined]
            raise error


class CarriesMessages(Parrot):
    """Shortens pages, and believes that a message is short."""

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            body = raw.read().decode()
            if "json" in raw.headers.get("Content-Type", ""):
                raise APIError(raw.status, json.loads(body)["error"]["message"])
            raise APIError(raw.status, body[:1000])


class BelievesItsHints(Parrot):
    """Reads a hint as the number of seconds that it always was."""

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            hint = float(raw.headers.get("Retry-After", "0"))
            raise RateLimitedError(error.status, error.message, retry_after=hint) from error


class StaysOpen(Parrot):
    """Reads what it needs of a refusal, and goes."""

    kept: ClassVar[list[Raw]] = []

    def check(self, raw: Raw) -> None:
        if raw.status != 200:
            self.kept.append(raw)
            raise APIError(raw.status, raw.read(90).decode())


# Trying again


class RepeatsEveryRefusal(Retrying):
    """Tries again whatever the provider said."""

    def may_pass(self, error: APIError) -> bool:
        return True


class RepeatsTooOften(Retrying):
    """Counts its tries from one."""

    tries = RETRIES + 1


class IgnoresHints(Retrying):
    """Tries again at once."""

    def parse(self, header: str) -> float | None:
        return None


class ReadsSecondsAlone(Retrying):
    """Takes a date for no hint."""

    def parse(self, header: str) -> float | None:
        return float(header) if header.isdigit() else None


class WaitsHalfAsLong(Retrying):
    """Spreads its tries, to both sides of what it was told."""

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds / 2)


class ComesEarlyAfterLongHints(Retrying):
    """Takes a hint that is too long for none."""

    def hint(self, error: APIError) -> float:
        wait = super().hint(error)
        return 0.0 if wait > self.longest else wait


class SleepsAnHour(Retrying):
    """Does as it is told."""

    longest = 1e9
    woken: ClassVar[threading.Event] = threading.Event()

    def sleep(self, seconds: float) -> None:
        self.woken.wait(seconds)


class KnowsHintsOf429Alone(Retrying):
    """A provider that is overloaded has no hint for it."""

    def hint(self, error: APIError) -> float:
        return super().hint(error) if error.status == 429 else 0.0


class BeginsAgain(Parrot):
    """Tries again whenever the connection breaks."""

    error: ClassVar[type[ModelError]] = IncompleteResponseError

    def stream(self, request: Request) -> Iterable[Event]:
        for left in reversed(range(RETRIES)):
            try:
                yield from super().stream(request)
                return
            except self.error:
                if not left:
                    raise


class Short(IncompleteResponseError):
    """The body ended, and the answer had not."""


class BeginsAgainAfterACut(BeginsAgain):
    """Tries again where the body ends in mid-answer."""

    error: ClassVar[type[ModelError]] = Short

    def cut_short(self, raw: Raw, words: int) -> Event:
        raise Short(f"the answer ended after {words} words")


class BeginsAgainAfterABadEvent(BeginsAgain):
    """Tries again where an event is no JSON."""

    error = StreamProtocolError


class BeginsAgainAfterSilence(Patient, Retrying):
    """Tries again where nothing comes for too long."""

    def stream(self, request: Request) -> Iterable[Event]:
        for left in reversed(range(RETRIES)):
            try:
                yield from super().stream(request)
                return
            except IncompleteResponseError as error:
                if not left or not isinstance(error.__cause__, ReadTimeoutError):
                    raise


class AsksAgainAfterSilence(Patient):
    """Tries again where nothing comes for too long, though nobody allowed it."""

    def ask(self, request: Request) -> requests.Response:
        for left in reversed(range(3)):
            try:
                return super().ask(request)
            except ModelError as error:
                if not left or not isinstance(error.__cause__, requests.ReadTimeout):
                    raise
        raise AssertionError


class AsksAgainWhereNobodyAnswers(Parrot):
    """Tries again where there is no answer, though nobody allowed it."""

    def ask(self, request: Request) -> requests.Response:
        for left in reversed(range(3)):
            try:
                return super().ask(request)
            except APIError:
                raise
            except ModelError:
                if not left:
                    raise
        raise AssertionError


# No stream


class AsksAgainForAStream(Parrot):
    """Tries again where there is no stream, though nobody allowed it."""

    def stream(self, request: Request) -> Iterable[Event]:
        for _ in range(3):
            with self.ask(request) as response:
                if "event-stream" in response.headers.get("Content-Type", ""):
                    yield from self.read(response.raw)
                    return
        raise ModelError("no stream")


class KeepsWhatIsNoStream(Parrot):
    """Looks at the media type, and goes."""

    kept: ClassVar[list[requests.Response]] = []

    def stream(self, request: Request) -> Iterable[Event]:
        response = self.ask(request)
        if "event-stream" not in response.headers.get("Content-Type", ""):
            self.kept.append(response)
            raise ModelError("no stream")
        with response:
            yield from self.read(response.raw)


class KeepsSilentConnections(Patient):
    """A connection on which nothing comes is given up, and not closed."""

    kept: ClassVar[list[Line]] = []

    def stream(self, request: Request) -> Iterable[Event]:
        line = Line(urlsplit(self.url))
        line.connection.timeout = SILENCE
        try:
            body = json.dumps(self.payload(request)).encode()
            raw = line.ask(body, {"Content-Type": "application/json", **self.headers})
            self.check(raw)
            yield from self.read(raw)
        except (OSError, HTTPError, HTTPException) as error:
            raise ModelError(f"no answer: {error}") from error
        except IncompleteResponseError as error:
            if isinstance(error.__cause__, ReadTimeoutError):
                self.kept.append(line)
            raise
        finally:
            if line not in self.kept:
                line.close()


class TakesPagesForAnswers(Parrot):
    """What has no events is an empty answer."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        return super().cut_short(raw, words) if words or not raw.tell() else STOP


class TakesJSONForAnAnswer(Parrot):
    """JSON is an answer that was not streamed, whatever it says."""

    def cut_short(self, raw: Raw, words: int) -> Event:
        is_json = raw.headers.get("Content-Type") == "application/json"
        return STOP if is_json else super().cut_short(raw, words)


# No answer


class LeavesConnectionErrors(Parrot):
    """Handles what comes after the headers."""

    def ask(self, request: Request) -> requests.Response:
        response = self.session.post(
            self.url,
            json=self.payload(request),
            headers=self.headers,
            stream=True,
            allow_redirects=False,
        )
        self.check(response.raw)
        return response


class HandlesRefusedConnections(Parrot):
    """Handles what it has seen once: a provider that is not there."""

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except ModelError as error:
            cause = error.__cause__
            if isinstance(cause, requests.ConnectionError) and "Errno" not in str(cause):
                raise cause from None
            raise


# Silence


class WaitsForEver(Parrot):
    """Has no time-out."""


class WaitsForEverAfterTheHeaders(Patient):
    """Its time-out is for the connection and the headers."""

    def read(self, raw: Raw) -> Iterator[Event]:
        connection: Any = raw.connection
        connection.sock.settimeout(None)
        return super().read(raw)


class LimitsTheWholeAnswer(Patient):
    """Takes the time-out for the time that an answer may take."""

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        until = time.monotonic() + SILENCE
        for chunk in super().chunks(raw):
            if time.monotonic() > until:
                raise IncompleteResponseError("it took too long")
            yield chunk


class EndsInSilence(Patient):
    """A silence ends the answer."""

    def chunks(self, raw: Raw) -> Iterator[bytes]:
        try:
            while chunk := raw.read1(65536, decode_content=True):
                yield chunk
        except ReadTimeoutError:
            return
        except (OSError, HTTPError) as error:
            raise IncompleteResponseError(str(error)) from error

    def cut_short(self, raw: Raw, words: int) -> Event:
        return STOP if words else super().cut_short(raw, words)
