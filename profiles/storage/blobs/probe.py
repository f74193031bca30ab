"""Write, read and delete a blob, to find out if a blob store can be used."""

import uuid

from profiles.storage.blobs.address import BadAddress, Bucket, parse
from profiles.storage.blobs.files import FileBlobs
from profiles.storage.blobs.interface import BlobError, BlobMissing, BlobStore

PROBE_PREFIX = "probes/"  # the sweep deletes what a killed process leaves
_DATA = b"Flamewatch checks its blob store."
# Parts of the errors that S3-compatible stores return for wrong credentials.
_CREDENTIAL_ERRORS = ("InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "403", "401")


class StoreUnusable(Exception):
    """The blob store cannot be used; the text says why, and what to do."""

    def __init__(self, text: str, *, is_permanent: bool) -> None:
        super().__init__(text)
        self.is_permanent = is_permanent  # the settings are wrong: waiting does not help


def probe_store(url: str) -> None:
    """Write, read and delete a small blob, without retries. Raise StoreUnusable."""
    try:
        location = parse(url)
        store = _open(location)
    except BadAddress as error:
        raise StoreUnusable(str(error), is_permanent=True) from None
    key = f"{PROBE_PREFIX}{uuid.uuid4().hex}"
    try:
        store.put(key, _DATA)
        data = store.get(key)
        store.delete(key)
    except BlobError as error:
        raise _explained(location, error) from error
    if data != _DATA:
        raise StoreUnusable(
            "The blob store returns other bytes than were written.", is_permanent=True
        )


def _open(location: object) -> BlobStore:
    if isinstance(location, Bucket):
        from profiles.storage.blobs.s3 import S3Blobs  # noqa: PLC0415  a site with files never loads it

        where = (location.bucket, location.prefix, location.endpoint, location.region)
        return S3Blobs(*where, max_retries=0, request_seconds=5)
    return FileBlobs(location.path)  # type: ignore[attr-defined]


def _explained(location: object, error: BlobError) -> StoreUnusable:
    if not isinstance(location, Bucket):
        return StoreUnusable(f"{error} Check BLOB_URL and the permissions.", is_permanent=True)
    if isinstance(error, BlobMissing):
        text = f"The bucket {location.bucket} does not exist. Create it, or correct BLOB_URL."
        return StoreUnusable(text, is_permanent=True)
    detail = str(error.__cause__ or error)
    if any(part in detail for part in _CREDENTIAL_ERRORS):
        text = (
            f"The blob store rejects the credentials for the bucket {location.bucket}. Check"
            " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may put, get, list and"
            " delete."
        )
        return StoreUnusable(text, is_permanent=True)
    host = location.endpoint or f"Amazon S3 in {location.region}"
    text = f"The blob store at {host} does not respond. Check BLOB_URL, or start the store."
    return StoreUnusable(text, is_permanent=False)
