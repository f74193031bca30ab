"""Values of each profile type of each agent, compared with what the program itself counted.

The programs in `known_rates/` print their cumulative counts every few milliseconds. The true value
of a profile is their growth between its start and its end, so it does not depend on the machine's
load. The mean of the ratios of reported and true values has a standard error of at most 1 %.
"""

import base64
import bisect
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from example_program import KEY
from fake_server import FakeServer, assigned, serving
from pprof_reader import ReadProfile, read

from tests import services
from tools.agent_archives import pack_java

pytestmark = [pytest.mark.server, pytest.mark.measurement]

CONFORMANCE = Path(__file__).resolve().parent
AGENTS = CONFORMANCE.parent
PROGRAMS = CONFORMANCE / "known_rates"
TOLERANCE = 0.05
STANDARD_ERROR = 0.01
MAX_CAPTURES = 120
MAX_PRINT_SECONDS = 10.0

Build = Callable[[Path], list[str]]


def _java(folder: Path) -> list[str]:
    jar = folder / "flamewatch-agent.jar"
    pack_java(AGENTS / "java", AGENTS.parent / "LICENSE", jar)
    source = str(PROGRAMS / "KnownRates.java")
    subprocess.run(["javac", "--release", "17", "-d", str(folder), source], check=True)
    return ["java", f"-javaagent:{jar}", "-cp", str(folder), "KnownRates"]


def _go(folder: Path) -> list[str]:
    program = str(folder / "known_rates")
    build = [services.go(), "build", "-o", program, "."]
    subprocess.run(build, cwd=PROGRAMS / "go", check=True)
    return [program]


def _node(_folder: Path) -> list[str]:
    return ["node", str(PROGRAMS / "known_rates.cjs")]


def _python(_folder: Path) -> list[str]:
    return [sys.executable, str(PROGRAMS / "known_rates.py")]


BUILDS: dict[str, Build] = {
    "go": _go,
    "java": _java,
    "node": _node,
    "python": _python,
}


@dataclass(frozen=True)
class Rate:
    """A profile type, with the function and the count of the program that are compared."""

    agent: str
    kind: str
    metric: str
    function: str  # end of its name
    count: str
    is_snapshot: bool = False  # the count is of one moment
    is_quick: bool = False  # few captures suffice
    seconds: float = 1.0  # of a capture
    environment: tuple[tuple[str, str], ...] = ()
    condition: str = ""

    def __str__(self) -> str:
        return "-".join(filter(None, (self.agent, self.kind, self.condition)))


ALLOCATIONS = (("FLAMEWATCH_TYPES", "HEAP_ALLOC"),)
CROWD = (("KNOWN_RATES_BURNERS", str(5 * (os.cpu_count() or 1))),)
RATES = [
    Rate("go", "CPU", "cpu", "burn", "cpu"),
    Rate("go", "WALL", "wall", "waitHere", "wall"),
    Rate("go", "HEAP", "inuse_space", "retain", "live", is_snapshot=True),
    Rate("go", "HEAP_ALLOC", "alloc_space", "allocate", "allocated", seconds=2.0),
    Rate("go", "CONTENTION", "delay", "hold", "delay", is_quick=True),
    Rate("go", "THREADS", "goroutine", "parkHere", "threads", is_snapshot=True, is_quick=True),
    Rate("java", "CPU", "cpu", "burn", "cpu", seconds=5.0),
    Rate(
        *("java", "CPU", "cpu", "burn", "cpu"),
        seconds=5.0,
        environment=CROWD,
        condition="crowded",
    ),
    Rate("java", "WALL", "wall", "waitHere", "wall"),
    Rate("java", "HEAP_ALLOC", "alloc_space", "allocate", "allocated", is_quick=True),
    Rate("java", "CONTENTION", "delay", "hold", "delay", is_quick=True),
    Rate("java", "THREADS", "thread", "park", "threads", is_snapshot=True, is_quick=True),
    Rate("node", "CPU", "cpu", "", "cpu", is_quick=True),
    Rate("node", "WALL", "wall", "", "wall", is_quick=True),
    Rate("node", "HEAP", "inuse_space", "", "live", is_snapshot=True),
    Rate("node", "HEAP_ALLOC", "alloc_space", "", "allocated", environment=ALLOCATIONS),
    Rate("python", "CPU", "cpu", "burn", "cpu", seconds=2.0),
    Rate("python", "WALL", "wall", "wait_here", "wall"),
    Rate("python", "HEAP", "inuse_space", "retain", "live", is_snapshot=True),
    Rate("python", "HEAP_ALLOC", "alloc_space", "allocate", "allocated"),
    # A wait that began before the capture is not in it: long captures keep its share small, as a
    # thread that releases and takes a lock again keeps another one waiting for 100 ms and more.
    Rate("python", "CONTENTION", "delay", "hold", "delay", seconds=5.0, is_quick=True),
    Rate("python", "THREADS", "thread", "park", "threads", is_snapshot=True, is_quick=True),
]


class CountingProgram:
    """Running program with its printed counts."""

    def __init__(self, fake: FakeServer, log: Path) -> None:
        self.fake, self.log = fake, log

    def captures(self, rate: Rate) -> Iterator[ReadProfile]:
        """Yield profiles of a type as they arrive, without end."""
        self.fake.respond_with("POST", assigned(rate.kind, f"{rate.seconds:.3f}s"))
        for number in itertools.count(1):
            upload = self.fake.wait_for("PATCH", number)[number - 1]
            assert upload.json["profileType"] == rate.kind
            yield read(base64.b64decode(upload.json["profileBytes"]))

    def counts(self, name: str) -> tuple[list[int], list[int]]:
        """Return the moments in ns, and the cumulative count at each."""
        times, values = [], []
        for line in self.log.read_text().splitlines(keepends=True):
            if line.startswith("rates ") and line.endswith("\n"):
                fields = dict(part.split("=") for part in line.split()[1:])
                times.append(int(fields["time"]))
                values.append(int(fields[name]))
        return times, values

    def interpolate_count(self, name: str, moment: int) -> float:
        """Return the count at `moment` (ns), interpolated; wait until a later one is printed."""
        deadline = time.monotonic() + MAX_PRINT_SECONDS
        times, values = self.counts(name)
        while times[-1] < moment and time.monotonic() < deadline:
            time.sleep(0.01)
            times, values = self.counts(name)
        after = bisect.bisect_left(times, moment)
        assert 0 < after < len(times), "the program printed no counts around the profile"
        share = (moment - times[after - 1]) / (times[after] - times[after - 1])
        return values[after - 1] + share * (values[after] - values[after - 1])


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    built: dict[str, list[str]] = {}

    def command(agent: str) -> list[str]:
        if agent not in built:
            built[agent] = BUILDS[agent](tmp_path_factory.mktemp(agent))
        return built[agent]

    return command


@contextlib.contextmanager
def running(rate: Rate, command: list[str], folder: Path) -> Iterator[CountingProgram]:
    log = folder / "log"
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("FLAMEWATCH")
    }
    with serving() as (fake, url), log.open("wb") as output:
        environment = inherited | dict(rate.environment)
        environment |= {"FLAMEWATCH_URL": url, "FLAMEWATCH_KEY": KEY, "FLAMEWATCH_SERVICE": "rates"}
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            yield CountingProgram(fake, log)
            assert process.poll() is None, log.read_text()[-2000:]
        finally:
            process.kill()
            process.wait()


def sum_reported(profile: ReadProfile, rate: Rate) -> int:
    index = [name for name, _ in profile.metrics].index(rate.metric)
    return sum(
        sample.values[index]
        for sample in profile.samples
        if any(frame.function.endswith(rate.function) for frame in sample.frames)
    )


def ratio(profile: ReadProfile, rate: Rate, program: CountingProgram) -> float:
    if rate.is_snapshot:
        _, values = program.counts(rate.count)
        truth = float(values[-1])
    else:
        start, end = profile.time_ns, profile.time_ns + profile.duration_ns
        truth = program.interpolate_count(rate.count, end) - program.interpolate_count(
            rate.count, start
        )
    return sum_reported(profile, rate) / truth


def measure(rate: Rate, command: list[str], folder: Path) -> tuple[list[float], float]:
    """Return the ratios of enough captures, and the standard error of their mean."""
    ratios: list[float] = []
    with running(rate, command, folder) as program:
        captures = program.captures(rate)
        next(captures)  # the first one includes what the agent loads once
        for profile in itertools.islice(captures, MAX_CAPTURES):
            assert not [name for name in profile.functions_seen() if "0x" in name]
            ratios.append(ratio(profile, rate, program))
            if len(ratios) >= 3:
                error = statistics.stdev(ratios) / len(ratios) ** 0.5
                if error <= STANDARD_ERROR:
                    return ratios, error
    pytest.fail(f"{rate}: standard error {error:.3f} after {len(ratios)} captures: {ratios}")


def _cases() -> list[object]:
    marks = {True: (), False: (pytest.mark.nightly,)}
    return [pytest.param(rate, marks=marks[rate.is_quick], id=str(rate)) for rate in RATES]


@pytest.mark.parametrize("rate", _cases())
def test_reported_values_are_those_that_the_program_counted(
    rate: Rate, commands: Callable[[str], list[str]], tmp_path: Path
) -> None:
    ratios, error = measure(rate, commands(rate.agent), tmp_path)
    mean = statistics.fmean(ratios)
    print(f"{rate}: {mean:.3f} of the truth, s.e. {error:.3f}, {len(ratios)} captures")
    assert mean == pytest.approx(1, abs=TOLERANCE), ratios
