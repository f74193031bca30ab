"""Write, read and delete a blob, to find out if a blob store can be used."""

import errno
import re
import uuid

from profiles.storage.blobs.address import BadAddress, Bucket, parse
from profiles.storage.blobs.files import FileBlobs
from profiles.storage.blobs.interface import BlobError, BlobStore

PROBE_PREFIX = "probes/"  # the sweep deletes what a killed process leaves
_PERMANENT_ERRNOS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR})
_DATA = b"Flamewatch checks its blob store."
# Codes of S3's errors, of Amazon's and of other stores.
_CREDENTIAL_CODES = frozenset(
    {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "XAdminUserNotFound"}
)
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_METADATA_HOST = "169.254.169.254"  # of a cloud's machines, which know their role


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
        raise _explain(location, error) from error
    if data != _DATA:
        raise StoreUnusable(
            "The blob store returns other bytes than were written.", is_permanent=True
        )


def _open(location: object) -> BlobStore:
    if isinstance(location, Bucket):
        from profiles.storage.blobs.s3 import S3Blobs  # noqa: PLC0415  a site with files never loads it

        address = (location.bucket, location.prefix, location.endpoint, location.region)
        return S3Blobs(*address, max_retries=0, request_seconds=5)
    return FileBlobs(location.path)  # type: ignore[attr-defined]


def _explain(location: object, error: BlobError) -> StoreUnusable:
    if not isinstance(location, Bucket):
        code = getattr(error.__cause__, "errno", None)
        text = f"{error} Check BLOB_URL and the permissions of the folder."
        return StoreUnusable(text, is_permanent=code in _PERMANENT_ERRNOS)
    detail = str(error.__cause__ or error)
    status, code = _first(_STATUS, detail), _first(_CODE, detail)
    if status in ("401", "403") or code in _CREDENTIAL_CODES:
        text = (
            f"The blob store rejects the credentials for the bucket {location.bucket}. Check"
            " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may put, get, list and"
            " delete."
        )
        return StoreUnusable(text, is_permanent=True)
    if status == "404":
        text = f"The bucket {location.bucket} does not exist. Create it, or correct BLOB_URL."
        return StoreUnusable(text, is_permanent=True)
    if status.startswith("4"):
        text = f"The blob store rejects a write: {status} {code}. Check BLOB_URL."
        return StoreUnusable(text, is_permanent=True)
    host = location.endpoint or f"Amazon S3 in {location.region}"
    text = f"The blob store at {host} does not respond. Check BLOB_URL, or start the store."
    if _METADATA_HOST in detail:
        text = "AWS_ACCESS_KEY_ID is not set, and this machine has no role for the blob store."
    return StoreUnusable(text, is_permanent=False)


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""
