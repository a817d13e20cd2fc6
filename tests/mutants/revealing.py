"""Adapters that carry their key to where it does not belong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urljoin

import requests

from modeltest import APIError, ConfigError, Event, ModelError, Request, StreamProtocolError

from .cut import STOP
from .parrot import KEY, Parrot, Raw


class FollowsRedirects(Parrot):
    """Lets requests follow, which removes Authorization and nothing else."""

    def ask(self, request: Request) -> requests.Response:
        post = self.session.post
        self.session.post = lambda *args, **options: post(  # type: ignore[method-assign]
            *args, **{**options, "allow_redirects": True}
        )
        try:
            return super().ask(request)
        finally:
            del self.session.post


class HasItsKeyInTheBody(FollowsRedirects):
    """Sends its key as a field of the request."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        del self.headers["x-api-key"]

    def payload(self, request: Request) -> dict[str, Any]:
        return {**super().payload(request), "key": KEY}


class KnowsWhereTo(Parrot):
    """Correct: its errors say where a redirect leads, for those who follow by hand."""

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            error.location = raw.headers.get("Location")  # type: ignore[attr-defined]
            raise


class AddsItsKeyAgain(KnowsWhereTo):
    """Follows by hand, with its key in each URL that it asks."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.headers = {"Accept-Encoding": "identity"}
        self.url += f"?key={quote(KEY)}"

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except APIError as error:
            location = getattr(error, "location", None)
            if not location:
                raise ModelError(f"no answer: {error.status} {error.message}") from None
            return self.session.post(
                f"{location}?key={quote(KEY)}", json=self.payload(request), stream=True
            )
        except ModelError:
            raise ModelError("no answer") from None


class TakesSlashesForAPath(KnowsWhereTo):
    """A location that begins with a slash is at the same origin; "//" does."""

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except APIError as error:
            location = getattr(error, "location", "") or ""
            if not location.startswith("/"):
                raise
            url = urljoin(self.url, location)
            return self.session.post(
                url, json=self.payload(request), headers=self.headers, stream=True
            )


class ComparesBeginnings(KnowsWhereTo):
    """A location that begins with the provider's address is at the same origin; it may go on."""

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except APIError as error:
            location = getattr(error, "location", "") or ""
            if not location.startswith(self.url.removesuffix("/v1/talk")):
                raise
            return self.session.post(
                location,
                json=self.payload(request),
                headers=self.headers,
                stream=True,
                allow_redirects=False,
            )


class TakesRedirectsForAnswers(Parrot):
    """What is no error is an answer, though it be empty."""

    def check(self, raw: Raw) -> None:
        if raw.status >= 400:
            super().check(raw)

    def cut_short(self, raw: Raw, words: int) -> Event:
        return super().cut_short(raw, words) if raw.status == 200 else STOP


class SaysItsURL(Parrot):
    """Its key is in the query, and requests quotes the URL of what failed."""

    def __init__(self, base_url: str, session: requests.Session) -> None:
        super().__init__(base_url, session)
        self.headers = {"Accept-Encoding": "identity"}
        self.url += f"?key={quote(KEY)}"


class SaysItInACause(SaysItsURL):
    """Its own words are careful; what it raises them from is printed as well."""

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except APIError:
            raise
        except ModelError as error:
            raise ModelError("no answer") from error


class SaysItsHeaders(Parrot):
    """Tells all that may help to find the fault."""

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            raise APIError(error.status, f"{error.message} {self.headers}") from None


class SaysItInARepr(Parrot):
    """Its errors are dataclasses at heart."""

    class Refused(APIError):
        def __repr__(self) -> str:
            return f"Refused({self.status}, headers={{'x-api-key': {KEY!r}}})"

    def check(self, raw: Raw) -> None:
        try:
            super().check(raw)
        except APIError as error:
            raise self.Refused(error.status, error.message) from None


class SaysItOfABadEvent(Parrot):
    """Where an answer cannot be read, the request is of interest."""

    def load(self, data: str) -> dict[str, Any]:
        try:
            return super().load(data)
        except ModelError as error:
            raise StreamProtocolError(f"{error}; asked with {self.headers}") from None


class SaysItOfNoStream(Parrot):
    """Where an answer is no stream, the request is of interest."""

    def read(self, raw: Raw) -> Iterator[Event]:
        if "event-stream" not in raw.headers.get("Content-Type", ""):
            raise ModelError(f"no stream; asked with {self.headers}")
        return super().read(raw)


class SaysItOfNoAnswer(Parrot):
    """Where the provider closes the connection, the request is of interest."""

    def ask(self, request: Request) -> requests.Response:
        try:
            return super().ask(request)
        except ModelError as error:
            if "RemoteDisconnected" in str(error):
                raise ModelError(f"no answer; asked with {self.headers}") from None
            raise


class SaysItOfABadRequest(Parrot):
    """What cannot be sent is shown with all that belongs to it."""

    def payload(self, request: Request) -> dict[str, Any]:
        try:
            return super().payload(request)
        except ConfigError as error:
            raise ConfigError(f"{error}: {vars(self)}") from None
