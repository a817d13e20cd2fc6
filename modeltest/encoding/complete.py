"""What a class must say before it is a wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeltest.interface import FinishReason

if TYPE_CHECKING:
    from modeltest.encoding.format import WireFormat


def check_complete(kind: type[WireFormat]) -> None:
    """Check that the class says all that is `required`, and that its `reasons` are reasons.

    Raises:
        TypeError: it does not; with all that is missing.
    """
    if missing := [name for name in kind.required if _lacks(kind, name)]:
        lines = [f"  {name}: {kind.required[name]}" for name in missing]
        raise TypeError("\n".join([f"{kind.__name__} is no wire format yet; it lacks", *lines]))
    for word, reason in kind.reasons.items():
        if reason not in set(FinishReason) and reason != word:
            raise TypeError(
                f"{kind.__name__}.reasons[{word!r}]: expected a FinishReason, or the word "
                f"itself where it is passed through; got {reason!r}"
            )


def _lacks(kind: type[WireFormat], name: str) -> bool:
    # Abstract methods without ABCMeta: its own message would say less than ours.
    return getattr(getattr(kind, name, None), "__isabstractmethod__", not hasattr(kind, name))
