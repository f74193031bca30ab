"""Blobs: runs of bytes under a key, written once and never changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class BlobError(Exception):
    """A blob cannot be read or written; the text says why."""


class BlobMissing(BlobError):
    """There is no blob of this key, or it is shorter than what was asked for."""


class BlobUnavailable(BlobError):
    """The store does not answer, or not in time, or refuses; trying later may help."""


class BlobDeadlinePassed(BlobUnavailable):
    """It did not come before whoever asked waits no longer."""


@dataclass(frozen=True, slots=True)
class BlobEntry:
    key: str
    size: int  # bytes
    modified: datetime


class BlobStore(Protocol):
    """Keys are parts of letters, digits, `-`, `_` and `.` between slashes.

    A call of a remote store ends within the store's own time limit, or raises BlobUnavailable;
    a file system may keep one for ever (block_bytes knows how to wait no longer).
    """

    is_remote: bool  # each call is a request over the network

    def put(self, key: str, data: bytes) -> None:
        """When this returns, the blob is durable and whole; before, nobody can see a part of it."""

    def get(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """So many bytes from there (None: all that follow); BlobMissing where they are not."""

    def delete(self, key: str) -> None:
        """Nothing happens if it is gone already."""

    def list(self, prefix: str = "") -> Iterator[BlobEntry]:
        """Every blob whose key begins so, in no particular order."""
