"""Parser for BLOB_URL, the address of the blob store."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

_FORMS = "BLOB_URL has to be file:///folder or s3://bucket/prefix?endpoint=https://…&region=…"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class BadAddress(ValueError):
    """A BLOB_URL is invalid; the message names the mistake and the accepted forms."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Local folder for blobs."""

    path: Path


@dataclass(frozen=True, slots=True)
class Bucket:
    """Bucket of an S3-compatible store."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""  # "" for Amazon S3
    region: str = "us-east-1"


def parse(url: str) -> Folder | Bucket:
    """Parse `file:///folder` or `s3://bucket/prefix?endpoint=https://…&region=…`.

    Raise BadAddress for anything else; its text has no part of the URL that may be a secret.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadAddress(_FORMS) from None
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return Folder(Path(unquote(parts.path)))
    if parts.scheme != "s3" or not parts.netloc:
        raise BadAddress(_FORMS)
    if "@" in url or not _BUCKET.fullmatch(parts.netloc):
        raise BadAddress(
            "BLOB_URL has to name a bucket without credentials; these are in AWS_ACCESS_KEY_ID and"
            " AWS_SECRET_ACCESS_KEY."
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(options) - {"endpoint", "region"})
    if unknown:
        raise BadAddress(
            f"BLOB_URL has the unknown parameter {unknown[0]!r}; use endpoint and region."
        )
    if not options.get("endpoint", "https://").startswith(("http://", "https://")):
        raise BadAddress("The endpoint of BLOB_URL must start with http:// or https://.")
    return Bucket(parts.netloc, parts.path.strip("/"), **options)
