"""Overhead of every agent: CPU time of a round of the example's work, while it is captured.

Start-up is left out: a figure is the difference of a long and a short run, which begin after the
first capture. The figures are printed (pytest -s); the bound is wide, because the machine's speed
varies.
"""

import os
import signal
import time

import pytest
from example_program import Program, Run
from fake_server import FakeServer, assigned
from languages import Language

pytestmark = [pytest.mark.measurement, pytest.mark.nightly]

SHORT, LONG = 8.0, 24.0  # seconds
TURNS = 2
MOST = 1.5  # times the CPU time of a round without the agent
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def cpu_and_rounds(program: Program, seconds: float) -> tuple[float, int]:
    time.sleep(seconds)
    used = cpu_seconds(program.process.pid)
    program.process.send_signal(signal.SIGTERM)
    program.process.wait(10)
    [rounds] = [line.split()[1] for line in program.log.splitlines() if "rounds" in line]
    return used, int(rounds)


def cpu_of_a_round(run: Run, fake: FakeServer, url: str) -> float:
    """Return the CPU seconds of a round of the example after its start and its first capture."""

    def measure_run(seconds: float) -> tuple[float, int]:
        uploads = len(fake.requests("PATCH"))
        with run(url) as program:
            if url:
                fake.wait_for("PATCH", uploads + 1)
            return cpu_and_rounds(program, seconds)

    short_cpu, short_rounds = measure_run(SHORT)
    long_cpu, long_rounds = measure_run(LONG)
    return (long_cpu - short_cpu) / (long_rounds - short_rounds)


def test_continuous_captures_stay_within_the_overhead_limits(
    language: Language, run: Run, server: tuple[FakeServer, str]
) -> None:
    fake, url = server
    ratios = {}
    for kind in sorted({"CPU", "WALL"} & set(language.types)):
        fake.respond_with("POST", assigned(kind, "10s"))
        without, during = [], []
        for _ in range(TURNS):
            without.append(cpu_of_a_round(run, fake, ""))
            during.append(cpu_of_a_round(run, fake, url))
        ratios[kind] = min(during) / min(without)
        more = 100 * (ratios[kind] - 1)
        print(f"{language.name} {kind}: {more:+.1f} % CPU time while capturing")
    assert all(ratio < MOST for ratio in ratios.values()), ratios
