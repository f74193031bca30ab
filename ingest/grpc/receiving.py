"""Receive the messages of RPCs within limits of number and time.

gRPC receives a message of up to the largest size as a whole, before any code of ours sees a byte of
it. The memory of messages on their way is therefore bounded by their number: a call waits for a
slot before its message is received. Flow control stops its client meanwhile, after 64 KiB.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack
from weakref import WeakValueDictionary

from common.request_body import TooSlow
from endpoints.errors import BadRequest, Overloaded

MESSAGES = 32
MESSAGES_OF_SENDER = 4
# Calls whose metadata has no valid credential: those of agents that send it in the message.
MESSAGES_WITHOUT_KEY = 8
READ_SECONDS = 20.0
WAIT_SECONDS = 30.0


class NoMessage(BadRequest):
    """The client ended the call without a message, or without a further one."""


class Receiver:
    """Slots for messages that are being received. Use from one event loop only."""

    def __init__(self) -> None:
        self._all = asyncio.Semaphore(MESSAGES)
        self._without_key = asyncio.Semaphore(MESSAGES_WITHOUT_KEY)
        # A semaphore exists as long as a call of its sender holds it or waits for it.
        self._of_sender: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()

    async def receive(
        self, messages: AsyncIterator[bytes], sender: Hashable, *, has_key: bool
    ) -> bytes:
        """Return the first message of a call, as soon as there is a slot for it.

        `sender` is the project of the key, or the address of a client without one. Raise Overloaded
        without a slot after WAIT_SECONDS, TooSlow if the message takes longer than READ_SECONDS,
        and NoMessage if the client has ended the call.
        """
        of_sender = self._of_sender.setdefault(sender, asyncio.Semaphore(MESSAGES_OF_SENDER))
        slots = [of_sender, self._all] if has_key else [of_sender, self._without_key, self._all]
        async with AsyncExitStack() as acquired:
            await _hold(acquired, slots)
            try:
                async with asyncio.timeout(READ_SECONDS):
                    async for message in messages:
                        return message
            except TimeoutError:
                raise TooSlow(f"The message was not complete after {READ_SECONDS:g} s.") from None
        raise NoMessage("The call has no message.")


async def _hold(acquired: AsyncExitStack, slots: list[asyncio.Semaphore]) -> None:
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            for slot in slots:
                await acquired.enter_async_context(slot)
    except TimeoutError:
        raise Overloaded(
            f"The server is receiving as many messages as it may: {MESSAGES} in all, "
            f"{MESSAGES_OF_SENDER} of a project, {MESSAGES_WITHOUT_KEY} without a key in the "
            f"metadata. Try again later."
        ) from None
