"""Reading a request's body: never more of it than allowed, and not for ever."""

import asyncio
from collections.abc import Mapping

from ingest.asgi_types import Receive
from ingest.errors import BadRequest, BodyTooLarge, Disconnected, TooSlow
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.unpack import unpack

READ_SECONDS = 60.0
# Base64 of gzip has three quarters of its bytes when it is compressed, a pprof profile that is not
# gzip a twentieth. Small bodies may be as repetitive as they like.
MAX_RATIO = 50
ANY_RATIO_BYTES = 64 * 2**10


async def read(receive: Receive, limit: str, allowed: int) -> bytes:
    """The whole body; BodyTooLarge, which names `limit`, as soon as it is longer."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await _read(receive, limit, allowed)
    except TimeoutError:
        raise TooSlow(f"The body was not here after {READ_SECONDS:.0f} s.") from None


async def _read(receive: Receive, limit: str, allowed: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > allowed:
            raise BodyTooLarge(limit, allowed)
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def declared_size(headers: Mapping[str, str], limit: str, allowed: int) -> int:
    """Content-Length, or `allowed` where the body comes in chunks; BodyTooLarge beyond it."""
    text = headers.get("content-length", "")
    if not text:
        return allowed
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BadRequest("Content-Length has to be a number.")
    if int(text) > allowed:
        raise BodyTooLarge(limit, allowed, int(text))
    return int(text)


def decoded(body: bytes, headers: Mapping[str, str], limit: str, allowed: int) -> bytes:
    """The body without its Content-Encoding, which may be gzip."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise BadRequest("Content-Encoding may be gzip or nothing.")
    of_its_size = max(ANY_RATIO_BYTES, MAX_RATIO * len(body))
    try:
        return unpack(body, min(allowed, of_its_size))
    except TooLarge:
        if allowed <= of_its_size:
            raise BodyTooLarge(limit, allowed) from None
        raise BodyTooLarge(
            f"Content-Encoding: gzip, a body of {len(body):,} bytes,", of_its_size
        ) from None
    except BadProfile:
        raise BadRequest("The body is not gzip, as its Content-Encoding says.") from None
