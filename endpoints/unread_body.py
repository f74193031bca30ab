"""An answer to a request that was not read to its end reaches the sender all the same.

A socket that is closed with unread bytes in it is reset, and takes with it the answer that says
why. So the answer is sent at once, and ends when what the sender was about to send has been read
and thrown away, within bounds.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from endpoints.asgi_types import Receive, Send

MOST_SECONDS = 10.0
MOST_BYTES = 2**30


class Incoming:
    """A request's messages, as `receive` gives them; knows whether the last one was taken."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def __call__(self) -> Mapping[str, Any]:
        message = await self._receive()
        self._ended = not message.get("more_body", False)
        return message

    def answering(self, send: Send) -> Send:
        """A `send` whose response ends no sooner than the request."""

        async def finish(message: Mapping[str, Any]) -> None:
            if self._ended or message["type"] != "http.response.body" or message.get("more_body"):
                return await send(message)
            await send({**message, "more_body": True})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(MOST_SECONDS):
                    await self._discard()
            await send({"type": "http.response.body"})

        return finish

    async def _discard(self) -> None:
        size = 0
        while not self._ended and size < MOST_BYTES:
            size += len((await self()).get("body", b""))
