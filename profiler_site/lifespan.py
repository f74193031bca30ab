"""What starts with the server's event loop and stops with it.

`stop_holding` comes first when the server stops: held handshakes are sent away, so that no
connection keeps it; `stop` comes last, when no request is left.
"""

from profiles.store import head
from projects import write_behind
from scheduler.waiting_room import room


async def start() -> None:
    """Open what serves requests; on the event loop that will serve them."""
    await room().open()
    await write_behind.start()


async def stop_holding() -> None:
    """Send every held agent away, and hold no new one."""
    await room().empty()


async def stop() -> None:
    """Write what was put off and close what is open."""
    await room().empty()
    await head.stop()
    await write_behind.stop()
