"""Content of a profile as it is stored: its encoded tree and what follows from its bytes alone.

It consists of bytes and plain values, so that a worker process can return it without a pickle of
the tree. This module imports no Django.
"""

import hashlib
from dataclasses import dataclass

from profiles.engine.encoding.codec import encode_columns
from profiles.engine.pprof.decode import DecodedProfile


@dataclass(frozen=True, slots=True)
class ProfileContent:
    """Columns of a Profile row that follow from the bytes of the profile alone."""

    body_hash: bytes  # of the uncompressed bytes, see `hash_body`
    samples: int
    weight: int
    totals: list[tuple[str, str, int]]  # (metric name, unit, total), the default metric first
    tree: bytes  # encoded by profiles.engine.encoding.codec


def hash_body(raw: bytes) -> bytes:
    """Return the 16-byte BLAKE2b hash by which repeated uploads are recognised.

    `raw` is the profile after gunzip: a sender that repeats an upload may compress it again, to
    other bytes.
    """
    return hashlib.blake2b(raw, digest_size=16).digest()


def encode_content(decoded: DecodedProfile, raw: bytes) -> ProfileContent:
    """Encode a decoded profile; `raw` is what was sent, after gunzip."""
    totals = [
        (metric.name, metric.unit, total)
        for metric, total in zip(decoded.columns.metrics, decoded.totals, strict=True)
    ]
    return ProfileContent(
        body_hash=hash_body(raw),
        samples=decoded.samples,
        weight=decoded.weight,
        totals=[totals.pop(decoded.default), *totals],
        tree=encode_columns(decoded.columns),
    )
