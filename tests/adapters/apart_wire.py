"""A wire format whose last line holds nothing but the end and its token counts."""

from collections.abc import Sequence
from typing import Any

from modeltest.wire import Payload, Unsupported

from .home_made_wire import AcmeLines


class ApartLines(AcmeLines):
    """Acme Lines of a server that never sends content in its last line."""

    def merge(self, payloads: Sequence[Any]) -> Payload:
        """Return one line that holds all of `payloads`, unless such a line is never sent."""
        line = self.join(payloads)
        if "over" in line and line.keys() & {"say", "call"}:
            raise Unsupported(f"{self.name}: the last line has no content")
        return line
