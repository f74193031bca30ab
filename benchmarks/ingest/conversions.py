"""Measure what a worker process adds to the conversion of an upload, in both processes together."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

from benchmarks.tools.table import Figure, show
from common.worker_processes.messages import JobLimits
from common.worker_processes.pool import WorkerPool
from common.worker_processes.program import WorkerProgram
from ingest.files.conversion_job import convert_file
from ingest.formats.detect import ConvertedFile, FileFormat
from ingest.formats.import_options import NO_OPTIONS
from ingest.formats.imported_profile import ImportedProfile
from projects.profile_types import ProfileType

LIMITS = JobLimits(cpu_seconds=30, wall_seconds=60, memory_bytes=2**30, result_bytes=48 * 2**20)
PROGRAM = WorkerProgram(
    preload=(convert_file.__module__,),
    classes=(ConvertedFile, FileFormat, ImportedProfile, ProfileType),
    nice=0,
)
MAX_RAW = 2**27
ROUNDS = 5
STACKS = [b"main;handler_%d;work_%d;leaf 1\n" % (i % 7, i) for i in range(33)]
SAMPLE = Path(__file__).parents[2] / "tests/ingest/formats/samples/async-profiler-4.jfr.gz"


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return the CPU time of this process and of others."""
    scheduled = [int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids]
    return process_time() + sum(scheduled) / 1e9


async def measure(convert: Callable[[], object], pool: WorkerPool, times: int) -> float:
    """Return the CPU milliseconds of one conversion, the least of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        pids = pool.process_ids()
        before = cpu_seconds(pids)
        for _ in range(times):
            made = convert()
            if asyncio.iscoroutine(made):
                await made
        best = min(best, cpu_seconds(pids) - before)
    return best / times * 1e3


async def compare(name: str, body: bytes, times: int) -> list[Figure]:
    pool = WorkerPool("benchmark", PROGRAM, workers=2)

    def in_process() -> object:
        return convert_file(body, NO_OPTIONS, MAX_RAW, None)

    def in_worker() -> object:
        return pool.run("tenant", LIMITS, convert_file, body, NO_OPTIONS, MAX_RAW, None)

    await pool.run("tenant", LIMITS, convert_file, body, NO_OPTIONS, MAX_RAW, None)
    here, there = [await measure(each, pool, times) for each in (in_process, in_worker)]
    pool.stop()
    return [
        Figure(f"{name}: CPU in this process", here, "ms"),
        Figure(f"{name}: CPU with a worker", there, "ms"),
        Figure(f"{name}: added CPU", there - here, "ms", 1.0),
    ]


def main() -> int:
    small = asyncio.run(compare("1 kB of stacks", b"".join(STACKS), 300))
    recording = asyncio.run(compare("a JFR recording", SAMPLE.read_bytes(), 5))
    within_limits = show("Conversion by a worker process", [*small, *recording[:2]])
    return 0 if within_limits else 1


if __name__ == "__main__":
    sys.exit(main())
