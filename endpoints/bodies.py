"""Read request bodies within limits of size and time."""

from collections.abc import Mapping

from common.asgi import Receive
from common.request_body import Charge, TooLong, charge_nothing, read_body
from endpoints.errors import BadRequest, BodyTooLarge
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import gunzip

# Base64 of gzip compresses to three quarters of its size, an uncompressed pprof profile to a
# twentieth. Bodies that unpack to at most ANY_RATIO_BYTES may have any ratio.
MAX_RATIO = 50
ANY_RATIO_BYTES = 64 * 2**10


async def read(
    receive: Receive, limit: str, allowed: int, charge: Charge = charge_nothing
) -> bytes:
    """Return the whole body, see common.request_body.read_body.

    Raise BodyTooLarge, which names `limit`, as soon as there are more bytes than `allowed`.
    """
    try:
        return await read_body(receive, allowed, charge)
    except TooLong:
        raise BodyTooLarge(limit, allowed) from None


def check_declared_size(headers: Mapping[str, str], limit: str, allowed: int) -> None:
    """Raise BodyTooLarge if Content-Length is more than `allowed`, before the body is read."""
    text = headers.get("content-length", "")
    if not text:
        return
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BadRequest("Content-Length must be a number.")
    if int(text) > allowed:
        raise BodyTooLarge(limit, allowed, int(text))


def decode_body(body: bytes, headers: Mapping[str, str], limit: str, allowed: int) -> bytes:
    """Return the body without its Content-Encoding, `gzip` or `identity`.

    Raise BodyTooLarge for more than `allowed` bytes or a suspicious compression ratio, BadRequest
    for an unknown or broken encoding.
    """
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise BadRequest("Unsupported Content-Encoding; only gzip is supported.")
    allowed_by_ratio = max(ANY_RATIO_BYTES, MAX_RATIO * len(body))
    try:
        return gunzip(body, min(allowed, allowed_by_ratio))
    except TooLarge:
        if allowed <= allowed_by_ratio:
            raise BodyTooLarge(limit, allowed) from None
        raise BodyTooLarge(
            f"Content-Encoding: gzip, a body of {len(body):,} bytes,", allowed_by_ratio
        ) from None
    except BadProfile:
        raise BadRequest("Content-Encoding is gzip, but the body is not valid gzip.") from None
