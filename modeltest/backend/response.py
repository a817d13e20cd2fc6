"""What the backend answers to one request: a head, and a script for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING

from modeltest.backend.steps import Send

if TYPE_CHECKING:
    from modeltest.backend.steps import Step
    from modeltest.backend.writer import ResponseWriter


class Framing(StrEnum):
    """How the body is delimited."""

    CHUNKED = "chunked"
    """In chunks; to a peer that speaks HTTP/1.0, which has none, as by CLOSE."""
    LENGTH = "length"
    """By Content-Length."""
    CLOSE = "close"
    """By the end of the connection, as in HTTP/1.0."""


@dataclass(frozen=True)
class Response:
    """The script for one request.

    A HEAD request, and a status that has no body, end with the head.

    Attributes:
        steps: what is done once the head is sent. When they are over and did not end the
            body themselves, it is ended as its framing demands.
        status: HTTP status.
        content_type: the Content-Type header, or None for none.
        headers: more headers.
        framing: how the body is delimited.
        length: with `Framing.LENGTH`, the Content-Length to claim; None means the true one.
        before: steps run before the status line.
    """

    steps: tuple[Step, ...] = ()
    status: int = 200
    content_type: str | None = "text/event-stream"
    headers: tuple[tuple[str, str], ...] = ()
    framing: Framing = Framing.CHUNKED
    length: int | None = None
    before: tuple[Step, ...] = ()

    @property
    def may_have_body(self) -> bool:
        """Whether the status allows a body."""
        return self.status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)

    def body_length(self) -> int:
        """The Content-Length to claim, in bytes."""
        if self.length is not None:
            return self.length
        return sum(len(step.data) for step in self.steps if isinstance(step, Send))

    def head(self, framing: Framing) -> bytes:
        """Return the status line and headers for a body delimited by `framing`."""
        version = "1.0" if framing is Framing.CLOSE else "1.1"
        lines = [f"HTTP/{version} {self.status} {_phrase(self.status)}"]
        lines += [f"{name}: {value}" for name, value in self._fields(framing)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def _fields(self, framing: Framing) -> Iterator[tuple[str, str]]:
        if self.content_type is not None:
            yield "Content-Type", self.content_type
        if framing is Framing.CLOSE:
            yield "Connection", "close"
        elif self.may_have_body:
            if framing is Framing.CHUNKED:
                yield "Transfer-Encoding", "chunked"
            else:
                yield "Content-Length", str(self.body_length())
        yield from self.headers


@dataclass(frozen=True)
class SendHead:
    """Write the status line and headers; the backend runs it before a response's steps."""

    data: bytes

    def run(self, writer: ResponseWriter) -> None:
        """Write them."""
        writer.write_raw(self.data)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
