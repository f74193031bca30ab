"""Upload over keep-alive connections, as fast as possible or at random times."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from benchmarks.tools.load import response

Sent = list[float]  # seconds until each upload was acknowledged


async def at_once(port: int, uploads: Iterator[bytes], connections: int, seconds: float) -> Sent:
    """Send uploads on every connection, each as soon as the previous one is acknowledged."""
    pool, until = _Connections(port), perf_counter() + seconds
    sent: Sent = []

    async def send_on() -> None:
        while perf_counter() < until:
            sent.append(await pool.send(next(uploads), perf_counter()))

    await asyncio.gather(*(send_on() for _ in range(connections)))
    pool.close()
    return sent


async def at_random(port: int, uploads: Iterator[bytes], rate: float, seconds: float) -> Sent:
    """Send `rate` uploads a second at random times, as independent agents do.

    Latency counts from the scheduled time of each upload, so waiting for a connection is included.
    """
    pool, start, moment = _Connections(port), perf_counter(), 0.0
    chance, sending = random.Random(1), list[asyncio.Task[float]]()
    while (moment := moment + chance.expovariate(rate)) < seconds:
        await asyncio.sleep(start + moment - perf_counter())
        sending.append(asyncio.create_task(pool.send(next(uploads), start + moment)))
    sent = await asyncio.gather(*sending)
    pool.close()
    return sent


@dataclass
class _Connections:
    """Pool of connections that opens another one when all are busy."""

    port: int
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    async def send(self, upload: bytes, since: float) -> float:
        if self.idle:
            reader, writer = self.idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(upload)
        status, body = await response(reader)
        if status != 200:
            raise RuntimeError(f"{status}: {body.decode()}")
        self.idle.append((reader, writer))
        return perf_counter() - since

    def close(self) -> None:
        for _reader, writer in self.idle:
            writer.close()
