"""A recorded body, to read an answer without a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO


class FileBody:
    """The bytes of a binary file."""

    def __init__(self, file: BinaryIO, *, size: int = 64 * 1024) -> None:
        """Read `file` in chunks of `size` bytes."""
        self._file = file
        self._size = size

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes."""
        while chunk := self._file.read(self._size):
            yield chunk

    def settle(self) -> None:
        """Leave the rest of the file unread."""
