"""Deliver error responses to clients that have not finished sending their request.

The kernel resets a connection that is closed with unread bytes, and the client loses the response.
So the response is sent at once, but ended only after the rest of the request was read and
discarded, within limits of time and size.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from common.asgi import Receive, Send

MAX_SECONDS = 10.0
MAX_BYTES = 2**30


class Incoming:
    """ASGI `receive` that records whether the last message of the request was received."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def __call__(self) -> Mapping[str, Any]:
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        return message

    def responding(self, send: Send) -> Send:
        """Return a `send` whose response ends only after the request has ended."""

        async def finish(message: Mapping[str, Any]) -> None:
            if self._ended or message["type"] != "http.response.body" or message.get("more_body"):
                return await send(message)
            await send({**message, "more_body": True})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(MAX_SECONDS):
                    await self._discard()
            await send({"type": "http.response.body"})

        return finish

    async def _discard(self) -> None:
        size = 0
        while not self._ended and size < MAX_BYTES:
            size += len((await self()).get("body", b""))
