"""Read the body of an HTTP request within limits of size, time and rate.

A client that announces a body and then sends nothing, or single bytes, gets TooSlow: otherwise it
could occupy a socket and memory for any length of time.
"""

import asyncio
from collections.abc import Callable

from common.asgi import Receive

READ_SECONDS = 60.0
# In each window at least WINDOW_BYTES or the rest of the body have to arrive. This is 1 KiB/s, a
# hundredth of the rate of a slow mobile connection.
WINDOW_SECONDS = 10.0
WINDOW_BYTES = 10 * 2**10

Charge = Callable[[int], None]


class Disconnected(Exception):
    """The client closed the connection before its request was complete."""


class TooSlow(Exception):
    """The body was not complete after READ_SECONDS, or fell below the minimum rate."""


class TooLong(Exception):
    """The body has more bytes than allowed."""


def charge_nothing(size: int) -> None:
    """Accept chunks of any size: `charge` for bodies that no budget limits."""


async def read_body(receive: Receive, allowed: int, charge: Charge = charge_nothing) -> bytes:
    """Return the whole body.

    Call `charge` with the size of each chunk as it arrives; an exception of `charge` ends the
    read. Raise TooLong as soon as there are more than `allowed` bytes, TooSlow after READ_SECONDS
    or below the minimum rate, and Disconnected if the client leaves.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + READ_SECONDS
    chunks: list[bytes] = []
    size, expected = 0, WINDOW_BYTES
    try:
        async with asyncio.timeout(min(READ_SECONDS, WINDOW_SECONDS)) as window:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Disconnected
                chunk = message.get("body", b"")
                charge(len(chunk))
                chunks.append(chunk)
                size += len(chunk)
                if size > allowed:
                    raise TooLong
                if not message.get("more_body", False):
                    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
                if size >= expected:
                    expected = size + WINDOW_BYTES
                    window.reschedule(min(end, loop.time() + WINDOW_SECONDS))
    except TimeoutError:
        raise TooSlow(_describe_delay(size, loop.time() >= end)) from None


def _describe_delay(size: int, at_end: bool) -> str:
    if at_end:
        return f"The body was not complete after {READ_SECONDS:g} s; received {size:,} bytes."
    return (
        f"Upload too slow: received {size:,} bytes, of them fewer than {WINDOW_BYTES:,} in the "
        f"last {WINDOW_SECONDS:g} s. Send at least {WINDOW_BYTES / WINDOW_SECONDS:,.0f} per second."
    )
