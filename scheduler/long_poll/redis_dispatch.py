"""Dispatch capture requests to parked agents at their scheduled times.

Every web process runs the dispatcher; atomic scripts in Redis ensure that one of them wins.
"""

import asyncio
import contextlib

from scheduler import policy
from scheduler.capture_requests import EXPIRY_SECONDS, CaptureRequest
from scheduler.long_poll.redis_scripts import Scripts

# Polling interval for capture requests that other processes have added.
_LOOK_SECONDS = 0.5


async def dispatch_requests(scripts: Scripts, look: asyncio.Event, rng: policy.Rng) -> None:
    """Dispatch requests until cancelled. Setting the event `look` ends the current pause."""
    while True:
        look.clear()
        until, opened = await scripts.tick()
        await asyncio.gather(*(_hand_out(scripts, slot, rng) for slot in opened))
        seconds = _LOOK_SECONDS if until is None else min(until, _LOOK_SECONDS)
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await look.wait()


async def _hand_out(scripts: Scripts, slot: CaptureRequest, rng: policy.Rng) -> None:
    """Give a request to one of the parked agents; without any, it stays pending."""
    while True:
        now, candidates = await scripts.candidates(slot)
        if not candidates:
            return
        tokens = {candidate.agent: candidate.token for candidate in candidates}
        history = {who.agent: who.captured for who in candidates if who.captured is not None}
        agent = policy.choose_agent(list(tokens), history, now, rng)
        if await scripts.claim(slot, tokens[agent], keep=EXPIRY_SECONDS) != "no agent":
            return
