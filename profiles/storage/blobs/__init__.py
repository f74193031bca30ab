"""Blob stores for blocks: files or an S3-compatible store behind one interface."""

import functools

from profiles.storage.blobs.address import Bucket, parse
from profiles.storage.blobs.files import FileBlobs
from profiles.storage.blobs.interface import (
    BlobDeadlinePassed,
    BlobEntry,
    BlobError,
    BlobMissing,
    BlobStore,
    BlobUnavailable,
)
from profiles.storage.blobs.keys import new_key

__all__ = [
    "BlobDeadlinePassed",
    "BlobEntry",
    "BlobError",
    "BlobMissing",
    "BlobStore",
    "BlobUnavailable",
    "new_key",
    "open_store",
]


@functools.lru_cache(maxsize=8)
def open_store(url: str) -> BlobStore:
    """Return the store for a URL. Raise BadAddress if the URL is invalid."""
    address = parse(url)
    if isinstance(address, Bucket):
        from profiles.storage.blobs.s3 import S3Blobs  # noqa: PLC0415  # a site with files never loads it

        return S3Blobs(address.bucket, address.prefix, address.endpoint, address.region)
    return FileBlobs(address.path)
