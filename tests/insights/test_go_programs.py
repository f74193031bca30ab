"""Rules for Go against profiles of real programs, which the Go in use compiles."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from tests.insights.noticed_rules import find_rules

PROGRAMS = Path(__file__).with_name("go_wastes")
RUN_NS = 800_000_000  # of the programs


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = shutil.which("go", path=f"{os.environ['PATH']}:/usr/local/go/bin")
    assert go, "this test needs Go"
    folder = tmp_path_factory.mktemp("go_wastes")
    output = folder / "go_wastes"
    environment = os.environ | {"GOCACHE": str(folder / "cache"), "GOFLAGS": "-mod=mod"}
    subprocess.run([go, "build", "-o", str(output), "."], cwd=PROGRAMS, env=environment, check=True)
    return output


@pytest.mark.slow  # compiles the standard library
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
    done = subprocess.run([program, name, profile], check=True, capture_output=True, timeout=60)
    found = find_rules(done.stdout, type_, RUN_NS)
    assert [*found.totals] == ([rule] if rule else [])
