"""Cancel work when the client closes its connection before the response."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from common.asgi import Receive
from common.request_body import Disconnected

T = TypeVar("T")


async def unless_disconnected(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """Return the result of the work, or cancel it and raise Disconnected if the client leaves.

    The body of the request has to be read before: the next message of `receive` is taken for the
    disconnect.
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
