"""Memory of the agent, and its growth: `python benchmarks/footprint.py [cycles]`

A cycle is a capture of each type, encoded as for an upload. A server that requests each type once a
minute causes sixty cycles an hour; here a capture takes a tenth of a second. Memory is resident and
not shared with other processes, compared with the same host before it imported the agent.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from peers import HERE, conditions

SECONDS = 0.1


def read_resident_bytes() -> int:
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        lines = (line.split() for line in file if line.startswith("Private_"))
        return sum(int(fields[1]) for fields in lines) * 1024


class BusyHost:
    """Threads that compute, allocate and contend for a lock, with constant memory use."""

    def __init__(self) -> None:
        self.done, self.lock = threading.Event(), threading.Lock()
        for n in range(4):
            threading.Thread(target=self._work, args=(n,), daemon=True).start()

    def _work(self, seed: int) -> None:
        dice = random.Random(seed)
        blocks = [bytearray(4096) for _ in range(500)]
        while not self.done.is_set():
            for _ in range(50):
                blocks[dice.randrange(len(blocks))] = bytearray(4096)
            with self.lock:
                time.sleep(0.002)


def measure(cycles: int, port: int) -> None:
    BusyHost()
    time.sleep(2)
    gc.collect()
    before = read_resident_bytes()
    import flamewatch  # noqa: PLC0415
    from flamewatch import pprof, process  # noqa: PLC0415
    from flamewatch.profile.build import build_profile  # noqa: PLC0415

    flamewatch.start(service="host", key="k" * 40, url=f"http://127.0.0.1:{port}")
    time.sleep(1)
    agent = process._process.agent
    assert agent is not None
    started = read_resident_bytes()
    after = []
    for _ in range(cycles):
        for kind in agent.sampler.types:
            capture = agent.sampler.capture(kind, SECONDS, lambda s: bool(time.sleep(s)))
            pprof.encode(build_profile(kind, capture, agent.sampler.name, 0))
        after.append(read_resident_bytes())
    mib = 1 / (1 << 20)
    print(f"started: {(started - before) * mib:+.1f} MiB over the host without it")
    tenth = max(1, cycles // 10)
    for title, some in (("first", after[:tenth]), ("last", after[-tenth:])):
        print(
            f"the {title} {tenth} of {cycles} cycles: {(max(some) - before) * mib:+.1f} MiB at most"
        )
    flamewatch.stop()


if __name__ == "__main__":
    cycles = int((sys.argv[1:2] or ["60"])[0])
    print(conditions())
    receiving_server = [sys.executable, str(Path(HERE) / "receiving_server.py"), "/tmp"]
    with subprocess.Popen(receiving_server, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            measure(cycles, int(server.stdout.readline()))
        finally:
            server.kill()
