"""What starts with the server's event loop and stops with it.

`stop_holding` comes first when the server stops: held handshakes are sent away, so that no
connection keeps it; `stop` comes last, when no request is left.
"""

from common import write_behind
from profiles.storage import head
from scheduler.long_poll import queue_of_process


async def start() -> None:
    """Open what serves requests; on the event loop that will serve them."""
    await queue_of_process().open()
    await write_behind.start()


async def stop_holding() -> None:
    """Send every held agent away, and hold no new one."""
    await queue_of_process().empty()


async def stop() -> None:
    """Write what was put off and close what is open."""
    await queue_of_process().empty()
    await head.stop()
    await write_behind.stop()
