"""Unpack: the bytes of an upload become those of a profile, whatever they claim to be."""

from isal import isal_zlib
from isal.igzip_lib import IsalError

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.limits import setting

_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's wbits for a gzip header and trailer


def gunzip(body: bytes, max_raw: int) -> bytes:
    """The raw profile: gunzipped (all members; what follows them is ignored), or as it came.

    TooLarge beyond `max_raw` bytes, and no more than that is ever unpacked; BadProfile if the
    gzip is broken or cut short.
    """
    if not body:
        raise BadProfile("The profile is empty.")
    if not body.startswith(_GZIP):
        return _bounded(body, max_raw)
    parts: list[bytes] = []
    left = max_raw
    while body.startswith(_GZIP):
        part, body = _member(body, left)
        left -= len(part)
        parts.append(part)
        if left < 0:
            raise TooLarge(setting("max_profile_bytes"), max_raw + 1, max_raw)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _bounded(raw: bytes, max_raw: int) -> bytes:
    if len(raw) > max_raw:
        raise TooLarge(setting("max_profile_bytes"), len(raw), max_raw)
    return raw


def _member(body: bytes, left: int) -> tuple[bytes, bytes]:
    """Contents of the first gzip member, at most one byte more than `left`, and what follows."""
    stream = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
    try:
        part = stream.decompress(body, left + 1)
    except IsalError as error:  # type: ignore[misc]  # its stub lacks the base class
        raise BadProfile(f"The gzip of the profile is broken: {error}.") from None
    if len(part) <= left and not stream.eof:
        raise BadProfile("The gzip of the profile is cut short.")
    return part, stream.unused_data
