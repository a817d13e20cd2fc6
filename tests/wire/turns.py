"""What an agent loop must make of a body, by the contract's own rules."""

from modeltest import APIError, StreamProtocolError, Turn, assemble
from modeltest.wire import Body, Role


def turn_of(body: Body) -> Turn:
    """Return the turn an agent loop must get from this body.

    Raises:
        APIError: the provider fails in it.
        StreamProtocolError: an event is malformed.

    And what `assemble` raises: the turn is cut, filtered, incomplete, or contradicts itself.
    """
    if body.error is not None:
        raise APIError(None, body.error.message, type=body.error.type)
    if body.first(Role.MALFORMED) is not None:
        raise StreamProtocolError(f"malformed event in {body.name!r}")
    return assemble(body.events)
