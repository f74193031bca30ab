"""uvicorn server of `flamewatch up`, on a socket that was bound before the start.

Before it waits for its connections to close, the server ends all parked long polls; otherwise it
would wait for each of them.
"""

import errno
import gc
import socket
import sys
from collections.abc import Awaitable, Callable
from types import FrameType

import uvicorn

from profiler_site.process.grpc_server import GrpcServer
from profiler_site.process.http_protocol import BoundedHttpProtocol

_BACKLOG = 4096
_SWITCH_SECONDS = 0.0005


class PortTaken(Exception):
    """Address that cannot be bound, usually because another program uses the port."""


def bind(host: str, port: int, advice: str = "") -> socket.socket:
    """Return a listening socket. Raise PortTaken, whose text says what to do (`advice`)."""
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
            f"Port {port} on {host} is already in use. Stop the other program,"
            f" or use another port: {advice or f'flamewatch up --port {port + 1}'}"
        ) from None
    return listener


def switch_threads_often() -> None:
    """Let a thread that computes in Python keep the GIL for 0.5 ms at a time, not 5 ms.

    An upload or a page takes the GIL some twenty times, after each statement, wake-up and call of
    compiled code. Beside a query that computes in Python each of them waits for the interval: see
    `python -m benchmarks overload`.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)


class Server(uvicorn.Server):
    """uvicorn's server with two callbacks, after startup and before shutdown, and a gRPC server.

    The gRPC server runs on the same event loop.
    """

    def __init__(
        self,
        application: str,
        *,
        on_serving: Callable[[], None],
        before_stop: Callable[[], Awaitable[None]],
        grpc_server: GrpcServer | None = None,
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
                proxy_headers=False,  # profiler_site.asgi reads them, for any server
                timeout_graceful_shutdown=1,
                # At least as long as a proxy in front keeps idle connections.
                timeout_keep_alive=65,
                backlog=_BACKLOG,
            )
        )
        self._on_serving = on_serving
        self._before_stop = before_stop
        self._grpc_server = grpc_server

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; ignore further signals, for which uvicorn would skip the rest of it.

        Stopping takes 2 s at most, and what the server has counted is stored then.
        """
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            if self._grpc_server:
                await self._grpc_server.start()
            # Objects loaded so far are permanent: exclude them from garbage collection.
            gc.collect()
            gc.freeze()
            self._on_serving()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._before_stop()
        if self._grpc_server:
            await self._grpc_server.stop()
        await super().shutdown(sockets)
