"""Rules for Go against profiles of real programs, which the Go in use compiles."""

import os
import subprocess
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from tests import services
from tests.insights.noticed_rules import find_rules

pytestmark = pytest.mark.slow  # compiles the standard library
PROGRAMS = Path(__file__).with_name("go_wastes")
RUN_NS = 800_000_000  # of the programs


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("go_wastes")
    output = folder / "go_wastes"
    environment = os.environ | {"GOCACHE": str(folder / "cache"), "GOFLAGS": "-mod=mod"}
    build = [services.go(), "build", "-o", str(output), "."]
    subprocess.run(build, cwd=PROGRAMS, env=environment, check=True)
    return output


@pytest.mark.parametrize(
    ("name", "profile", "type_", "rule"),
    [
        ("growBuffers", "allocs", ProfileType.HEAP_ALLOC, "go-buffer-growth"),
        ("growBuilder", "allocs", ProfileType.HEAP_ALLOC, "go-buffer-growth"),
        ("readAll", "allocs", ProfileType.HEAP_ALLOC, "go-buffer-growth"),
        ("lockWaits", "mutex", ProfileType.CONTENTION, "go-lock-waits"),
        ("plainWork", "allocs", ProfileType.HEAP_ALLOC, None),
        ("plainWork", "mutex", ProfileType.CONTENTION, None),
    ],
)
def test_rule_matches_its_waste_and_no_other(
    program: Path, name: str, profile: str, type_: ProfileType, rule: str | None
) -> None:
    found = find_rules(run(program, name, profile), type_, RUN_NS)
    assert [*found.totals] == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("keepGarbage", "go-gc"),
        ("allocate", "go-allocation"),
        ("growMaps", "go-map-growth"),
        ("jsonRoundTrips", "go-json-reflection"),
        ("compileExpressions", "go-regexp-compile"),
        ("copyBuffers", "go-memmove"),
        ("deferInLoop", "go-defer"),
        ("handshakes", "go-tls-handshake"),
        ("formatValues", "go-reflect-fmt"),
    ],
)
def test_rule_matches_its_waste_of_cpu_time(program: Path, name: str, rule: str) -> None:
    """A program may also show the memory that its waste allocates and copies."""
    found = find_rules(run(program, name, "cpu"), ProfileType.CPU)
    assert found.totals[rule] >= 0.2 * found.whole
    assert found.totals.keys() <= {rule, "go-gc", "go-allocation", "go-memmove"}


@pytest.mark.parametrize("name", ["carefulWork", "plainWork"])
def test_no_rule_matches_the_same_work_without_waste(program: Path, name: str) -> None:
    assert not find_rules(run(program, name, "cpu"), ProfileType.CPU).totals


def run(program: Path, name: str, profile: str) -> bytes:
    command = [str(program), name, profile]
    return subprocess.run(command, check=True, capture_output=True, timeout=60).stdout
