"""Real server in a thread of the tests, with real sockets and an accessible long-poll queue."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from profiler_site.process import lifespan
from profiler_site.process.server import Server, bind

_LONG = 30.0


@contextlib.contextmanager
def live_server() -> Iterator[int]:
    """Yield the server's port; at the end all parked agents are released first."""
    serving = threading.Event()
    server = Server(
        "profiler_site.asgi:application",
        on_serving=serving.set,
        before_stop=lifespan.release_parked_agents,
    )
    listener = bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert serving.wait(_LONG)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(_LONG)
        listener.close()


@dataclass
class Connection:
    """Socket of one agent."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, method: str, path: str, message: object, **headers: str) -> None:
        body = json.dumps(message).encode()
        fields = {"Host": "127.0.0.1", "Content-Length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        await self.writer.drain()

    async def read_response(self) -> tuple[int, bytes]:
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), _LONG)
        status = int(head.split()[1])
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        return status, await self.reader.readexactly(length)

    def close(self) -> None:
        self.writer.close()
