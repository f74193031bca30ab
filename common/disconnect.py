"""Cancel work for a client that closes its connection before the answer."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from common.request_body import Disconnected, Receive

T = TypeVar("T")


async def unless_disconnected(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """Return the work's result.

    The request's body has to be read already: what `receive` says next is that the client left.
    Then the work is cancelled and Disconnected raised.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.ensure_future(receive())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Disconnected
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.gather(leaving, working, return_exceptions=True)
