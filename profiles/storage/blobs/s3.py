"""Blobs in a bucket of an S3-compatible store.

Credentials come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN)
or from the machine's role. Sites that store blobs in files never load the S3 library.
"""

import contextlib
from collections.abc import Iterator
from datetime import timedelta

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from common.outages import Dependency, count_failure
from profiles.storage.blobs.interface import BlobEntry, BlobMissing, BlobUnavailable
from profiles.storage.blobs.keys import check_key

# Limits of one request; RETRY_SECONDS includes its retries. Callers may have an earlier deadline.
CONNECT_SECONDS = 3
REQUEST_SECONDS = 15
RETRY_SECONDS = 20
MAX_RETRIES = 2


class S3Blobs:
    """Blob store in an S3 bucket; implements BlobStore."""

    is_remote = True

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        endpoint: str = "",
        region: str = "us-east-1",
        *,
        max_retries: int = MAX_RETRIES,
        request_seconds: int = REQUEST_SECONDS,
    ) -> None:
        self._name = f"s3://{bucket}"
        address = {"endpoint": endpoint} if endpoint else {}
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            region=region,
            # Few stores other than Amazon S3 have a host name for each bucket.
            virtual_hosted_style_request=not endpoint,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": f"{CONNECT_SECONDS}s",
                "timeout": f"{request_seconds}s",
            },
            retry_config={
                "max_retries": max_retries,
                "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            },
            **address,  # type: ignore[arg-type]
        )

    def put(self, key: str, data: bytes) -> None:
        with self._translate_errors(key):
            # Always one request: an interrupted multipart upload would leave its parts behind.
            obstore.put(self._store, check_key(key), data, use_multipart=False)

    def get(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        if length == 0:
            return b""
        with self._translate_errors(key):
            if length is None:
                whole = bytes(obstore.get(self._store, check_key(key)).bytes())
                return whole[offset:]
            data = bytes(
                obstore.get_range(self._store, check_key(key), start=offset, length=length)
            )
        if len(data) != length:
            raise BlobMissing(f"Blob {key} is truncated: {offset + len(data)} bytes.")
        return data

    def delete(self, key: str) -> None:
        with self._translate_errors(key), contextlib.suppress(FileNotFoundError):
            obstore.delete(self._store, check_key(key))

    def list(self, prefix: str = "") -> Iterator[BlobEntry]:
        # The library lists by folder only: the rest of the prefix is compared here.
        folder = prefix.rpartition("/")[0] or None
        with self._translate_errors(prefix):
            for page in obstore.list(self._store, folder):
                for entry in page:
                    if entry["path"].startswith(prefix):
                        yield BlobEntry(entry["path"], entry["size"], entry["last_modified"])

    @contextlib.contextmanager
    def _translate_errors(self, key: str) -> Iterator[None]:
        """Translate the library's errors to BlobMissing and BlobUnavailable."""
        try:
            yield
        except FileNotFoundError as error:
            raise BlobMissing(f"Blob {key} does not exist.") from error
        except (BaseError, OSError) as error:
            count_failure(Dependency.BLOB_STORE)
            reason = str(error).partition("\n")[0]
            raise BlobUnavailable(f"{self._name} failed with blob {key}: {reason}") from error
