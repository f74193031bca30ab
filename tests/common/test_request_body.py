"""Reading of request bodies: a minimum rate, and a charge for each received chunk."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from common import request_body
from common.request_body import TooLong, TooSlow, read_body


class Sender:
    """ASGI client that sends each chunk after a delay in seconds, and then never ends the body."""

    def __init__(self, *chunks: tuple[float, bytes]) -> None:
        self._chunks = list(chunks)
        self.charged: list[int] = []

    async def receive(self) -> Mapping[str, Any]:
        if not self._chunks:
            await asyncio.get_running_loop().create_future()
        delay, chunk = self._chunks.pop(0)
        await asyncio.sleep(delay)
        return {"type": "http.request", "body": chunk, "more_body": chunk != b""}

    def read(self, allowed: int = 10**6) -> bytes:
        return asyncio.run(read_body(self.receive, allowed, self.charged.append))


@pytest.fixture(autouse=True)
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "WINDOW_SECONDS", 0.2)
    monkeypatch.setattr(request_body, "WINDOW_BYTES", 10)


def test_each_piece_is_charged_when_it_is_there() -> None:
    sender = Sender((0, b"abc"), (0, b"de"), (0, b""))
    assert sender.read() == b"abcde"
    assert sender.charged == [3, 2, 0]


def test_announced_body_that_does_not_arrive_is_too_slow() -> None:
    sender = Sender()
    with pytest.raises(TooSlow, match=r"received 0 bytes, .* at least 50 per second"):
        sender.read()
    assert sender.charged == []


def test_a_few_bytes_now_and_then_are_too_slow() -> None:
    with pytest.raises(TooSlow, match="too slow"):
        Sender(*[(0.05, b"x")] * 100).read()


def test_steady_body_over_several_windows_is_read() -> None:
    body = Sender(*[(0.05, b"x" * 10)] * 8, (0, b"")).read()
    assert body == b"x" * 80


def test_body_over_the_maximum_time_is_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "READ_SECONDS", 0.3)
    with pytest.raises(TooSlow, match=r"not complete after 0.3 s"):
        Sender(*[(0.05, b"x" * 10)] * 100).read()


def test_an_error_while_charging_ends_the_read() -> None:
    sender = Sender((0, b"x" * 60), (0, b"x" * 60))

    def full(size: int) -> None:
        raise MemoryError(f"no room for {size}")

    with pytest.raises(MemoryError, match="no room for 60"):
        asyncio.run(read_body(sender.receive, 100, full))


def test_a_body_beyond_its_limit_ends_at_once() -> None:
    with pytest.raises(TooLong):
        Sender((0, b"x" * 101)).read(allowed=100)
