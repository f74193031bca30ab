"""The one process that serves: uvicorn on a socket that was bound first.

Stopping sends everyone in the waiting room away before the server waits for its connections;
otherwise it would wait for every held handshake.
"""

import errno
import gc
import resource
import socket
from collections.abc import Awaitable, Callable

import uvicorn

from profiler_site.process.http_protocol import BoundedHttpProtocol

# Beside the agents: the listening socket, log, database, blobs and pages.
_OTHER_FILES = 200
_BACKLOG = 4096


class PortTaken(Exception):
    """Another program listens there."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; PortTaken names the cure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise PortTaken(f"Cannot listen on {host}:{port}: {error.strerror}.") from None
        raise PortTaken(
            f"Port {port} on {host} is taken by another program; stop that,"
            f" or choose another port: flamewatch up --port {port + 1}"
        ) from None
    return listener


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one; returns how many agents it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return max(0, soft - _OTHER_FILES)


class Server(uvicorn.Server):
    """uvicorn's server with two moments of ours: when it serves, and before it stops."""

    def __init__(
        self,
        application: str,
        *,
        on_serving: Callable[[], None],
        before_stop: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                loop="uvloop",
                http=BoundedHttpProtocol,
                ws="none",
                lifespan="on",
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=1,
                # As long as a proxy in front may keep its connections.
                timeout_keep_alive=65,
                backlog=_BACKLOG,
            )
        )
        self._on_serving = on_serving
        self._before_stop = before_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            # What was loaded stays: no collection need look through it again.
            gc.collect()
            gc.freeze()
            self._on_serving()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._before_stop()
        await super().shutdown(sockets)
