"""A wire format that does not let the last line hold anything besides the end and its counts."""

from collections.abc import Sequence
from typing import Any

from modeltest.wire import Payload, Unsupported

from .home_made_wire import AcmeLines


class ApartLines(AcmeLines):
    """Acme Lines of a server that never sends content in its last line."""

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one line that says all of `payloads`, unless it is one that is never sent."""
        said = self.join(payloads)
        if "over" in said and said.keys() & {"say", "call"}:
            raise Unsupported(f"{self.name}: the last line has no content")
        return said
