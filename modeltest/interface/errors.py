"""How a turn fails. An adapter raises these, or names its own (`model_error`, `config_error`).

`ConfigError` is the caller's fault, found before anything is sent. `ModelError` is the
provider's or the network's. `ProtocolError` is what the events themselves contradict.
"""

from __future__ import annotations


class ConfigError(Exception):
    """The request cannot be sent as it is: a bad tool name, an undeclared tool choice."""


class ModelError(Exception):
    """The turn failed: no answer, half an answer, or a refusal by the provider."""


class IncompleteResponseError(ModelError):
    """The response ended before the provider said that the turn was over."""


class OutputTruncatedError(ModelError):
    """The turn ended at the token limit: the answer is not whole."""


class OutputFilteredError(ModelError):
    """The provider withheld the answer, or what was left of it."""


class ResponseTooLargeError(ModelError):
    """A line, an event or an answer was larger than the adapter accepts."""


class APIError(ModelError):
    """The provider answered with an error.

    Attributes:
        status: the HTTP status, or None when the error came inside a stream.
        message: the provider's words.
        type: the provider's error type, such as "overloaded_error"; empty if it named none.
        code: the provider's error code, such as "context_length_exceeded"; empty if none.
        body: the start of the response's body, for a log.
    """

    def __init__(
        self,
        status: int | None = None,
        message: str = "",
        *,
        type: str = "",  # noqa: A002 - the providers' word for it
        code: str = "",
        body: str = "",
    ) -> None:
        self.status = status
        self.message = message
        self.type = type
        self.code = code
        self.body = body
        super().__init__(status, message)

    def __str__(self) -> str:
        where = "in the stream" if self.status is None else f"HTTP {self.status}"
        kind = f" ({self.type})" if self.type else ""
        return f"{where}{kind}: {self.message or self.body or 'no message'}"


class RateLimitedError(APIError):
    """The provider asked to be called later.

    Attributes:
        retry_after: seconds to wait, or None when the provider gave no hint.
    """

    def __init__(
        self,
        status: int | None = None,
        message: str = "",
        *,
        retry_after: float | None = None,
        type: str = "",  # noqa: A002
        code: str = "",
        body: str = "",
    ) -> None:
        super().__init__(status, message, type=type, code=code, body=body)
        self.retry_after = retry_after


class QuotaExhaustedError(APIError):
    """The account has nothing left to spend: waiting does not help."""


class ProtocolError(Exception):
    """The events of a turn contradict the contract."""


class TruncatedToolArgumentsError(ProtocolError):
    """A tool call's arguments are no whole JSON object: they must not be run."""


class NegativeUsageError(ProtocolError):
    """A token count is below zero."""


class StreamProtocolError(ProtocolError, ModelError):
    """The stream said things that cannot all be true, such as text after its end."""
