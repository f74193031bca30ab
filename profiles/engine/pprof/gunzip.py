"""Decompression of uploads, limited in size whatever their headers claim."""

from isal import isal_zlib
from isal.igzip_lib import IsalError

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import setting

_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's wbits for a gzip header and trailer


def gunzip(body: bytes, max_raw: int) -> bytes:
    """Return the raw profile: gunzipped, or unchanged if the body is not gzip.

    All gzip members are read; bytes after them are ignored. Raise `TooLarge` above `max_raw` bytes,
    of which at most one more is ever decompressed, and `BadProfile` if the gzip is corrupt or
    truncated.
    """
    if not body:
        raise BadProfile("The profile is empty.")
    if not body.startswith(_GZIP):
        return _check_size(body, max_raw)
    parts: list[bytes] = []
    left = max_raw
    while body.startswith(_GZIP):
        part, body = _member(body, left)
        left -= len(part)
        parts.append(part)
        if left < 0:
            raise TooLarge(setting("max_profile_bytes"), max_raw + 1, max_raw)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_claimed_size(body: bytes) -> int:
    """Return the size of the raw profile as the body claims it, without reading the whole body.

    The last four bytes of a gzip of one member are this size modulo 2**32 (RFC 1952, ISIZE). It is
    wrong for several members, for bytes after the last one, and as the sender likes: it serves for
    choosing a queue, not for a limit.
    """
    return int.from_bytes(body[-4:], "little") if body.startswith(_GZIP) else len(body)


def _check_size(raw: bytes, max_raw: int) -> bytes:
    if len(raw) > max_raw:
        raise TooLarge(setting("max_profile_bytes"), len(raw), max_raw)
    return raw


def _member(body: bytes, left: int) -> tuple[bytes, bytes]:
    """Return the first gzip member, at most `left` + 1 bytes of it, and the bytes after it."""
    stream = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
    try:
        part = stream.decompress(body, left + 1)
    except IsalError as error:  # type: ignore[misc]  # its stub lacks the base class
        raise BadProfile(f"Invalid gzip data in the profile: {error}.") from None
    if len(part) <= left and not stream.eof:
        raise BadProfile("The gzip data of the profile is truncated.")
    return part, stream.unused_data
