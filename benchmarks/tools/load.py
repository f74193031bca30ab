"""HTTP requests as agents send them, over plain sockets, and CPU and memory of the server."""

import asyncio
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.tools.processes import cpu_seconds


def request(method: str, path: str, key: str, message: object, *headers: str) -> bytes:
    return request_with(method, path, key, json.dumps(message).encode(), *headers)


def request_with(method: str, path: str, key: str, body: bytes, *headers: str) -> bytes:
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {key}",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


class UploadRejected(RuntimeError):
    """A response had an error status; the text has the status and the body."""


async def send_all(port: int, requests: Iterable[bytes], connections: int) -> None:
    """Send requests on every connection, each as soon as the previous response has arrived.

    Raise UploadRejected at the first error status.
    """
    remaining = iter(requests)
    await asyncio.gather(*(_send(port, remaining) for _ in range(connections)))


async def _send(port: int, left: Iterator[bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for message in left:
        writer.write(message)
        status, body = await response(reader)
        if status not in {200, 409}:  # 409: no capture request
            raise UploadRejected(f"{status}: {body.decode()}")
    writer.close()


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return int(head.split()[1]), await reader.readexactly(int(length))


def idle_share(pid: int, seconds: float = 5.0) -> float:
    """Return the share of a core that background work such as beat uses without any requests."""
    before = cpu_seconds(pid)
    time.sleep(seconds)
    return (cpu_seconds(pid) - before) / seconds


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))
