"""Long responses that are made only as fast as the client receives them."""

import asyncio
from collections.abc import Callable, Iterator

from frontend.http.thread_response import PulledResponse, ThreadResponse, send_parts


async def receive(parts: int) -> tuple[int, bool]:
    """Receive a number of parts; return how many were made, and if the content was closed."""
    made, is_closed = 0, False

    def content() -> Iterator[bytes]:
        nonlocal made, is_closed
        try:
            for _ in range(100):
                made += 1
                yield b"x" * 1000
        finally:
            is_closed = True

    async def run(work: Callable[[], bytes | None]) -> bytes | None:
        return await asyncio.to_thread(work)

    handover = ThreadResponse()
    working = asyncio.ensure_future(
        asyncio.to_thread(send_parts, PulledResponse(content()), handover.put)
    )
    await handover.head(working)
    received = 0
    async for _part in handover.content(working, run):
        received += 1
        if received == parts:
            break
    return made, is_closed


def test_parts_that_the_client_has_not_received_are_not_made() -> None:
    assert asyncio.run(receive(3)) == (3, False)


def test_response_is_closed_after_its_last_part() -> None:
    assert asyncio.run(receive(101)) == (100, True)
