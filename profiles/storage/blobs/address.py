"""Parser for BLOB_URL, the address of the blob store."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit


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

    Raise BadAddress for anything else.
    """
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return Folder(Path(unquote(parts.path)))
    if parts.scheme != "s3" or not parts.netloc:
        raise BadAddress(
            f"BLOB_URL is {url!r}; use file:///folder or s3://bucket/prefix?endpoint=…"
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
