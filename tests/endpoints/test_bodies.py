"""Reading of request bodies, bounded in size and time."""

import asyncio
import gzip
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.request_body import Disconnected
from endpoints import bodies
from endpoints.errors import BadRequest, BodyTooLarge


class BodySender:
    """ASGI client that sends these chunks, and then nothing or a disconnect."""

    def __init__(self, *chunks: bytes, ends: bool = True, leaves: bool = False) -> None:
        self.messages: list[Mapping[str, Any]] = [
            {"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks
        ]
        if leaves:
            self.messages.append({"type": "http.disconnect"})
        elif ends:
            self.messages.append({"type": "http.request"})

    async def receive(self) -> Mapping[str, Any]:
        if not self.messages:
            await asyncio.get_running_loop().create_future()
        return self.messages.pop(0)

    def read(self, allowed: int = 100) -> bytes:
        return asyncio.run(bodies.read(self.receive, "LIMIT", allowed))


@given(st.lists(st.binary(max_size=20), max_size=5))
def test_a_body_is_all_its_chunks(chunks: list[bytes]) -> None:
    assert BodySender(*chunks).read() == b"".join(chunks)


def test_a_body_over_the_limit_is_not_read_to_its_end() -> None:
    sender = BodySender(b"x" * 60, b"x" * 60, b"x" * 60, ends=False)
    with pytest.raises(BodyTooLarge, match="LIMIT allows 100 bytes"):
        sender.read()
    assert len(sender.messages) == 1


def test_disconnect_within_the_body_raises_disconnected() -> None:
    with pytest.raises(Disconnected):
        BodySender(b"x", leaves=True).read()


def test_a_declared_size_beyond_the_limit_is_rejected_before_anything_is_read() -> None:
    bodies.check_declared_size({"content-length": "100"}, "LIMIT", 100)
    bodies.check_declared_size({}, "LIMIT", 100)
    with pytest.raises(BodyTooLarge, match="this request has 101"):
        bodies.check_declared_size({"content-length": "101"}, "LIMIT", 100)


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "٣", "9" * 5000])
def test_a_declared_size_has_to_be_a_number(text: str) -> None:
    with pytest.raises(BadRequest):
        bodies.check_declared_size({"content-length": text}, "LIMIT", 100)


def test_an_unknown_encoding_is_rejected() -> None:
    with pytest.raises(BadRequest, match="only gzip is supported"):
        bodies.decode_body(b"x", {"content-encoding": "br"}, "LIMIT", 100)
    with pytest.raises(BadRequest, match="not valid gzip"):
        bodies.decode_body(b"\x1f\x8bx", {"content-encoding": "gzip"}, "LIMIT", 100)
    assert bodies.decode_body(b"x", {"content-encoding": "Identity"}, "LIMIT", 100) == b"x"


def test_a_compressed_body_has_a_bounded_ratio() -> None:
    sent = gzip.compress(b" " * 20_000_000)
    with pytest.raises(
        BodyTooLarge, match=f"a body of {len(sent):,} bytes, allows {50 * len(sent):,}"
    ):
        bodies.decode_body(sent, {"content-encoding": "gzip"}, "LIMIT", 10**8)
    small = gzip.compress(b" " * 60_000)
    assert len(bodies.decode_body(small, {"content-encoding": "gzip"}, "LIMIT", 10**8)) == 60_000
