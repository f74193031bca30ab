"""TLS proxy in a thread, in front of a plaintext server on this machine."""

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Iterator

from tests.certificates import Certificate

_CHUNK_BYTES = 2**16


@contextlib.contextmanager
def tls_proxy(port: int, certificate: Certificate) -> Iterator[int]:
    """Yield the port of a proxy that forwards the bytes of its connections to `port`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.certificate, certificate.key)
    loop = asyncio.new_event_loop()
    listening, ports = threading.Event(), list[int]()

    async def serve() -> None:
        server = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)
        ports.append(server.sockets[0].getsockname()[1])
        listening.set()
        with contextlib.suppress(asyncio.CancelledError):
            await server.serve_forever()
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await asyncio.gather(_copy(reader, upstream_writer), _copy(upstream_reader, writer))

    task: asyncio.Task[None] = loop.create_task(serve())
    thread = threading.Thread(target=loop.run_until_complete, args=(task,))
    thread.start()
    try:
        assert listening.wait(30)
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)
        loop.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until one side closes its connection, then close the other."""
    try:
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
