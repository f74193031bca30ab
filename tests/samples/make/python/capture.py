"""Write a wall and a heap profile of this program, with the standard library alone.

Usage: python capture.py <folder>
"""

import gzip
import json
import re
import sys
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

Frame = tuple[str, str, int]
PERIOD = 0.005


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, content: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field: int, values: Iterable[int]) -> bytes:
    return data(field, b"".join(map(varint, values)))


def pprof(stacks: dict[tuple[Frame, ...], list[int]], kinds: list[tuple[str, str]]) -> bytes:
    """Encode a profile of stacks, leaf first."""
    strings: dict[str, int] = {"": 0}
    frames: dict[Frame, int] = {}

    def text(value: str) -> int:
        return strings.setdefault(value, len(strings))

    out = [data(1, number(1, text(name)) + number(2, text(unit))) for name, unit in kinds]
    for stack, values in stacks.items():
        ids = [frames.setdefault(frame, len(frames) + 1) for frame in stack]
        out.append(data(2, packed(1, ids) + packed(2, values)))
    for (name, file, line), i in frames.items():
        out.append(data(4, number(1, i) + data(4, number(1, i) + number(2, line))))
        out.append(data(5, number(1, i) + number(2, text(name)) + number(4, text(file))))
    out.extend(data(6, value.encode()) for value in strings)
    out.append(number(9, 1_700_000_000_000_000_000) + number(10, 2 * 10**9))
    return b"".join(out)


def stack_of(frame: FrameType | None) -> tuple[Frame, ...]:
    stack: list[Frame] = []
    while frame:
        code = frame.f_code
        stack.append(
            (code.co_qualname, "/".join(Path(code.co_filename).parts[-2:]), frame.f_lineno)
        )
        frame = frame.f_back
    return tuple(stack)


def sample(of: int, stop: threading.Event, found: Counter[tuple[Frame, ...]]) -> None:
    while not stop.wait(PERIOD):
        found[stack_of(sys._current_frames().get(of))] += 1


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work(seconds: float) -> list[str]:
    retained = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = json.dumps([{"name": f"record-{i}", "values": [i] * 5} for i in range(300)])
        retained.append(re.sub(r"record-(\d+)", r"\1", json.dumps(json.loads(text), indent=1)))
        fibonacci(15)
        retained = retained[-20:]
    return retained


def wall() -> bytes:
    found: Counter[tuple[Frame, ...]] = Counter()
    stop = threading.Event()
    sampler = threading.Thread(target=sample, args=(threading.get_ident(), stop, found))
    sampler.start()
    work(2)
    stop.set()
    sampler.join()
    stacks = {stack: [count, round(count * PERIOD * 1e6)] for stack, count in found.items()}
    return pprof(stacks, [("sample", "count"), ("wall", "microseconds")])


def heap() -> bytes:
    tracemalloc.start(40)
    retained = work(1)
    stacks: dict[tuple[Frame, ...], list[int]] = {}
    for block in tracemalloc.take_snapshot().statistics("traceback"):
        stack = tuple(
            (f"{Path(f.filename).stem}:{f.lineno}", f.filename.rpartition("/")[2], f.lineno)
            for f in reversed(block.traceback)
        )
        before = stacks.setdefault(stack, [0, 0])
        before[0] += block.count
        before[1] += block.size
    del retained
    return pprof(stacks, [("inuse_objects", "count"), ("inuse_space", "bytes")])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "python-wall.pb.gz").write_bytes(gzip.compress(wall(), mtime=0))
    (folder / "python-heap.pb.gz").write_bytes(gzip.compress(heap(), mtime=0))
