"""Open slots at their moments and hand them out; every web process does it, Redis deals."""

import asyncio
import contextlib

from scheduler import policy
from scheduler.capture_requests import EXPIRY_SECONDS, CaptureRequest
from scheduler.long_poll.redis_scripts import Scripts

# How often slots that other processes added are looked for.
_LOOK_SECONDS = 0.5


async def dispatch_requests(scripts: Scripts, look: asyncio.Event, rng: policy.Rng) -> None:
    """Forever; setting `look` makes it look for slots at once."""
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
    """To one of those that wait; if there is none, it is open for whoever arrives."""
    while True:
        now, candidates = await scripts.candidates(slot)
        if not candidates:
            return
        tokens = {candidate.agent: candidate.token for candidate in candidates}
        history = {who.agent: who.captured for who in candidates if who.captured is not None}
        agent = policy.choose_agent(list(tokens), history, now, rng)
        if await scripts.claim(slot, tokens[agent], keep=EXPIRY_SECONDS) != "no agent":
            return
