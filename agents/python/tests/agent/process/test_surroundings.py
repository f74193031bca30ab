"""Faults in the agent's environment: clocks that jump, disks that are full."""

import base64
import subprocess
from pathlib import Path

import pytest
from fake_server import FakeServer, assigned, never_responds
from pprof_reader import read
from programs import begin, run

JUMPING_CLOCK = Path(__file__).with_name("jumping_clock.c")
TWO_PROFILES = """
    import flamewatch, time
    flamewatch.start()
    first = time.time()
    assert max(abs(time.time() - first) for _ in range(2)) > 80_000, "the clock does not jump"
    while flamewatch.status()["profiles_sent"] < 2:
        sum(range(10_000))
    assert not flamewatch.status()["errors"], flamewatch.status()
    flamewatch.stop()
"""


@pytest.fixture
def jumping_clock(tmp_path: Path) -> str:
    library = tmp_path / "clock.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", str(JUMPING_CLOCK)]
    subprocess.run([*command, "-o", str(library)], check=True)
    return str(library)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["CPU", "WALL", "HEAP_ALLOC"])
def test_a_clock_that_jumps_by_days_changes_no_duration(
    server: FakeServer, url: str, kind: str, jumping_clock: str
) -> None:
    server.respond_with("POST", assigned(kind, "0.3s"), assigned(kind, "0.3s"), never_responds)
    _, errors = run(TWO_PROFILES, url, LD_PRELOAD=jumping_clock)
    assert errors == ""
    found = [read(base64.b64decode(s.json["profileBytes"])) for s in server.requests("PATCH")]
    assert len(found) == 2
    assert all(0.3e9 <= profile.duration_ns < 60e9 for profile in found)


def test_log_on_a_full_disk_does_not_end_the_program(url: str) -> None:
    program = """
        import flamewatch, logging
        logging.basicConfig(filename="/dev/full")
        logging.raiseExceptions = False  # or it would say each loss on stderr
        flamewatch.start()
        print("still here")
    """
    process = begin(program, url, FLAMEWATCH_KEY="")
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out, errors) == (0, "still here\n", "")
