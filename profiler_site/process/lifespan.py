"""Startup and shutdown of the services that run on the server's event loop.

When the server stops, `release_parked_agents` runs first: it ends parked long polls, so that no
connection delays the stop. `stop` runs last, after all requests have ended.
"""

import asyncio
import threading

from django.conf import settings

from common import write_behind
from common.metric_exchange import start_exchange
from frontend.rendering.load_pages import load_pages
from ingest.uploads import conversion_pool, decode_workers
from profiler_site.process.compaction_program import compaction_program
from profiler_site.process.idle_memory import IdleMemory
from profiler_site.process.query_program import query_program
from profiles.compaction import build_workers
from profiles.queries import query_workers
from profiles.storage import head
from scheduler.long_poll import queue_of_process


async def start() -> None:
    """Start the long-poll queue, the write-behind buffers and the first worker processes.

    The pages are loaded in a thread.

    Run this on the event loop that serves requests.
    """
    global _idle_memory
    await queue_of_process().open()
    await write_behind.start()
    decode_workers.workers.start()
    conversion_pool.pool.start()
    if settings.QUERY_WORKERS:
        query_workers.start(query_program(), settings.QUERY_WORKERS)
        build_workers.start(compaction_program(), query_workers.running_workers())
    _idle_memory = IdleMemory()
    _idle_memory.start()
    if settings.REDIS_URL or settings.QUERY_WORKERS:  # otherwise there is only this process
        start_exchange("web")
    threading.Thread(target=load_pages, name="flamewatch-load-pages", daemon=True).start()


async def release_parked_agents() -> None:
    """End all parked long polls and park no new ones."""
    await queue_of_process().close()


async def stop() -> None:
    """Write buffered data, close the queue, the head and the buffers, and end the workers."""
    await queue_of_process().close()
    await head.stop()
    await write_behind.stop()
    if _idle_memory is not None:
        await asyncio.to_thread(_idle_memory.stop)
    await asyncio.to_thread(conversion_pool.pool.stop)
    await asyncio.to_thread(decode_workers.workers.stop)
    await asyncio.to_thread(build_workers.stop)
    await asyncio.to_thread(query_workers.stop)


_idle_memory: IdleMemory | None = None
