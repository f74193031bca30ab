"""Reading a request's body: never more of it than allowed, and not for ever."""

from collections.abc import Mapping

from common.request_body import Charge, TooLong, read_body
from endpoints.asgi_types import Receive
from endpoints.errors import BadRequest, BodyTooLarge
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import gunzip

# Base64 of gzip has three quarters of its bytes when it is compressed, a pprof profile that is not
# gzip a twentieth. Small bodies may be as repetitive as they like.
MAX_RATIO = 50
ANY_RATIO_BYTES = 64 * 2**10


def _free(size: int) -> None:
    """Charge nothing: for bodies that are small by their limit."""


async def read(receive: Receive, limit: str, allowed: int, charge: Charge = _free) -> bytes:
    """Return the whole body, as common.request_body; BodyTooLarge, which names `limit`, as soon
    as it is longer than allowed."""
    try:
        return await read_body(receive, allowed, charge)
    except TooLong:
        raise BodyTooLarge(limit, allowed) from None


def check_declared_size(headers: Mapping[str, str], limit: str, allowed: int) -> None:
    """Raise BodyTooLarge where Content-Length is more than allowed, before anything is read."""
    text = headers.get("content-length", "")
    if not text:
        return
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BadRequest("Content-Length has to be a number.")
    if int(text) > allowed:
        raise BodyTooLarge(limit, allowed, int(text))


def decoded(body: bytes, headers: Mapping[str, str], limit: str, allowed: int) -> bytes:
    """The body without its Content-Encoding, which may be gzip."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise BadRequest("Content-Encoding may be gzip or nothing.")
    of_its_size = max(ANY_RATIO_BYTES, MAX_RATIO * len(body))
    try:
        return gunzip(body, min(allowed, of_its_size))
    except TooLarge:
        if allowed <= of_its_size:
            raise BodyTooLarge(limit, allowed) from None
        raise BodyTooLarge(
            f"Content-Encoding: gzip, a body of {len(body):,} bytes,", of_its_size
        ) from None
    except BadProfile:
        raise BadRequest("The body is not gzip, as its Content-Encoding says.") from None
