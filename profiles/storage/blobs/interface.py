"""Interface of blob stores. A blob is an immutable byte string under a key."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class BlobError(Exception):
    """A blob cannot be read or written; the message gives the reason."""


class BlobMissing(BlobError):
    """The store has no blob under this key, or the blob is shorter than the requested range."""


class BlobUnavailable(BlobError):
    """The store does not respond in time or returns an error; a retry may succeed."""


class BlobDeadlinePassed(BlobUnavailable):
    """A read did not finish before the caller's deadline (blob_store.py)."""


@dataclass(frozen=True, slots=True)
class BlobEntry:
    """Blob in a listing of the store."""

    key: str
    size: int  # bytes
    modified: datetime


class BlobStore(Protocol):
    """Blob store.

    A key consists of segments of letters, digits, `-`, `_` and `.`, separated by slashes. A call
    to a remote store ends within the store's own time limit or raises BlobUnavailable. A call to
    a file system may block forever; blob_store.py reads with a deadline.
    """

    is_remote: bool  # True if each call is a request over the network

    def put(self, key: str, data: bytes) -> None:
        """Write a blob durably and atomically: no reader ever sees a part of it."""

    def get(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        """Return `length` bytes from `offset`, or all bytes from `offset` if `length` is None.

        Raise BlobMissing if the blob does not exist or is shorter than that.
        """

    def delete(self, key: str) -> None:
        """Delete a blob; do nothing if it does not exist."""

    def list(self, prefix: str = "") -> Iterator[BlobEntry]:
        """Yield the blobs whose keys start with the prefix, in no particular order."""
