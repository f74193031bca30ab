"""Web process that parks one agent.

python -m tests.scheduler.long_poll.park_one REDIS_URL AGENT
"""

import asyncio
import sys

from projects.profile_types import ProfileType
from scheduler.long_poll.interface import Waiter
from scheduler.long_poll.redis import RedisQueue
from tests.scheduler.long_poll.parking import LONG, park


async def main(url: str, agent: str) -> None:
    queue = RedisQueue(url, 3, 0.3)
    (wait,) = await park(
        queue, Waiter(agent, 9, 1, frozenset({ProfileType.CPU})), poll_timeout=LONG
    )
    print("parked", flush=True)
    print(await wait, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
