"""Profilers that are compared, each started as its own documentation says.

They are not in the requirements. Profilers that are installed beside NumPy in the interpreter that
runs the benchmark take part (`pip install pyroscope-io ddtrace zstandard py-spy
google-cloud-profiler numpy`, in an environment of its own).
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))
sys.path.insert(0, str(HERE.parent / "tests" / "agent"))

from pprof_reader import ReadProfile, message, read  # noqa: E402

Kind = Literal["cpu", "wall"]
Seen = dict[str, int]  # function → nanoseconds
PERIOD_NS = 10_000_000
GZIP = b"\x1f\x8b"


def add_up(stacks: Iterable[tuple[Iterable[str], int]], names: Iterable[str]) -> Seen:
    """Sum values by the leaf-most function that is in `names`."""
    seen = dict.fromkeys(names, 0)
    for functions, value in stacks:
        name = next((f for f in functions if f in seen), None)
        if name is not None:
            seen[name] += value
    return seen


def read_cpu_ns(process: int) -> int:
    """Return the CPU time that a process has used, in nanoseconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def sum_by_function(
    profile: ReadProfile, metric: str, names: Iterable[str], scale: int = 1
) -> Seen:
    index = [name for name, _ in profile.metrics].index(metric)
    stacks = (
        ([f.function.rpartition(".")[2] for f in s.frames], s.values[index] * scale)
        for s in profile.samples
    )
    return add_up(stacks, names)


class Peer:
    """Interface of a profiler; `folder` is its own, and empty."""

    name = ""
    kinds: tuple[Kind, ...] = ("cpu", "wall")

    def __init__(self, kind: Kind, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.beside_ns = 0  # CPU time of other processes

    @staticmethod
    def is_here() -> bool:
        raise NotImplementedError

    def start(self, seconds: float) -> None:
        """Start a capture; `seconds` is its planned duration."""
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def seen(self, names: Iterable[str]) -> Seen:
        """Return the nanoseconds by function of the last capture."""
        raise NotImplementedError

    def close(self) -> None:
        """Release resources after the last capture."""


class Flamewatch(Peer):
    name = "flamewatch"

    @staticmethod
    def is_here() -> bool:
        return True

    def start(self, seconds: float) -> None:
        from flamewatch import _native  # noqa: PLC0415

        self._native = _native
        _native.start(self.kind)

    def stop(self) -> None:
        self._raw = self._native.stop()

    def seen(self, names: Iterable[str]) -> Seen:
        from flamewatch.capture.stacks import read_stacks  # noqa: PLC0415

        stacks = read_stacks(self._raw)
        return add_up((([f.function for f in s.frames], s.value) for s in stacks), names)


class Pyroscope(Peer):
    name = "pyroscope-io"

    def __init__(self, kind: Kind, folder: Path) -> None:
        super().__init__(kind, folder)
        self._server = subprocess.Popen(
            [sys.executable, str(HERE / "receiving_server.py"), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._server.stdout
        self._port = int(self._server.stdout.readline())

    @staticmethod
    def is_here() -> bool:
        return find_spec("pyroscope") is not None

    def start(self, seconds: float) -> None:
        import pyroscope  # noqa: PLC0415

        self._module = pyroscope
        for old in self.folder.iterdir():  # profiles of the previous capture
            old.unlink()
        on_cpu = self.kind == "cpu"
        pyroscope.configure(
            application_name="benchmark",
            server_address=f"http://127.0.0.1:{self._port}",
            sample_rate=100,
            oncpu=on_cpu,
            gil_only=on_cpu,
        )

    def stop(self) -> None:
        self._module.shutdown()

    def seen(self, names: Iterable[str]) -> Seen:
        names = list(names)
        total = dict.fromkeys(names, 0)
        time.sleep(0.5)  # wait for the last push
        for profile in self._profiles():
            metric, unit = profile.metrics[0]
            scale = 1 if unit == "nanoseconds" else PERIOD_NS
            for name, value in sum_by_function(profile, metric, names, scale).items():
                total[name] += value
        return total

    def _profiles(self) -> Iterator[ReadProfile]:
        for path in sorted(self.folder.glob("*.pushed")):
            body = path.read_bytes()
            for series in message(gzip.decompress(body) if body[:2] == GZIP else body)[1]:
                for sample in message(series)[2]:
                    raw = message(sample)[1][0]
                    yield read(raw if raw[:2] == GZIP else gzip.compress(raw))

    def close(self) -> None:
        self._server.kill()
        self._server.wait()


class Ddtrace(Peer):
    name = "ddtrace"

    def __init__(self, kind: Kind, folder: Path) -> None:
        super().__init__(kind, folder)
        os.environ |= {
            "DD_PROFILING_OUTPUT_PPROF": str(folder / "out"),
            "DD_PROFILING_MEMORY_ENABLED": "0",
            "DD_PROFILING_LOCK_ENABLED": "0",
            "DD_TRACE_ENABLED": "0",
            "DD_INSTRUMENTATION_TELEMETRY_ENABLED": "0",
        }
        from ddtrace.profiling import Profiler  # noqa: PLC0415

        self._make: Any = Profiler

    @staticmethod
    def is_here() -> bool:
        return find_spec("ddtrace") is not None and find_spec("zstandard") is not None

    def start(self, seconds: float) -> None:
        for old in self.folder.iterdir():  # profiles of the previous capture
            old.unlink()
        self._profiler = self._make()
        self._profiler.start()

    def stop(self) -> None:
        self._profiler.stop(flush=True)

    def seen(self, names: Iterable[str]) -> Seen:
        import zstandard  # noqa: PLC0415

        names = list(names)
        total = dict.fromkeys(names, 0)
        for path in self.folder.glob("*.pprof"):
            stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes()))
            profile = read(gzip.compress(stream.read()))
            for name, value in sum_by_function(profile, f"{self.kind}-time", names).items():
                total[name] += value
        return total


class PySpy(Peer):
    name = "py-spy"
    program = Path(sysconfig.get_path("scripts")) / "py-spy"

    @staticmethod
    def is_here() -> bool:
        return PySpy.program.exists()

    def start(self, seconds: float) -> None:
        self._out = self.folder / "raw"
        idle = ["--idle"] if self.kind == "wall" else []
        options = ["-r", "100", "-d", "unlimited", "-f", "raw", "-o", str(self._out), *idle]
        self._process = subprocess.Popen(
            [str(self.program), "record", "-p", str(os.getpid()), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.8)  # time to attach
        self._used_ns = read_cpu_ns(self._process.pid)

    def stop(self) -> None:
        self.beside_ns += read_cpu_ns(self._process.pid) - self._used_ns
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def seen(self, names: Iterable[str]) -> Seen:
        def stacks() -> Iterator[tuple[list[str], int]]:
            for line in self._out.read_text().splitlines():
                stack, count = line.rsplit(" ", 1)
                functions = [frame.split(" ")[0] for frame in reversed(stack.split(";"))]
                yield functions, int(count) * PERIOD_NS

        return add_up(stacks(), names)


class Google(Peer):
    """Google Cloud Profiler. Its WALL type samples only the main thread."""

    name = "google-cloud-profiler"
    kinds = ("cpu",)

    @staticmethod
    def is_here() -> bool:
        with contextlib.suppress(ModuleNotFoundError):
            return find_spec("googlecloudprofiler.cpu_profiler") is not None
        return False

    def start(self, seconds: float) -> None:
        from googlecloudprofiler.cpu_profiler import CPUProfiler  # noqa: PLC0415

        profiler = CPUProfiler(10)

        def run() -> None:
            self._profile = profiler.profile(int(seconds * 1e9))

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def stop(self) -> None:
        self._thread.join()

    def seen(self, names: Iterable[str]) -> Seen:
        profile = read(self._profile)
        index = [unit for _, unit in profile.metrics].index("nanoseconds")
        return sum_by_function(profile, profile.metrics[index][0], names)


PEERS: tuple[type[Peer], ...] = (Flamewatch, Pyroscope, Ddtrace, PySpy, Google)


def list_installed_peers(kind: Kind) -> list[type[Peer]]:
    return [peer for peer in PEERS if kind in peer.kinds and peer.is_here()]


@contextlib.contextmanager
def start_peer(name: str, kind: Kind) -> Iterator[Peer]:
    """Yield the profiler of that name, with a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="flamewatch-benchmark-"))
    [chosen] = [peer for peer in PEERS if peer.name == name]
    peer = chosen(kind, folder)
    try:
        yield peer
    finally:
        peer.close()
        shutil.rmtree(folder, ignore_errors=True)


def conditions() -> str:
    """Describe the machine and the interpreter of the measurement."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "?")
    system, python = os.uname(), sys.version.split()[0]
    return f"{os.cpu_count()} cores of {model}, Linux {system.release}, CPython {python}"
