"""A million mutated inputs under sanitizers, and 100,000 of each target guided by coverage."""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fuzz import sanitized
from tests.fuzz.sanitized import SanitizedBuild
from tests.fuzz.target_names import SHARES
from tests.paths import ROOT

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(5400)]
SANITIZED_RUNS = 1_000_000
GUIDED_RUNS_OF_EACH = 100_000
REPORTS = re.compile(rb"__asan_report_(load|store)")


def fuzz(*options: str) -> str:
    """Fuzz all targets with today's seed; fail with the whole output if there is a finding."""
    seed = datetime.now(UTC).date().toordinal()
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", f"--seed={seed}", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def runs_of(output: str) -> int:
    row = next(line for line in output.splitlines() if line.startswith("all "))
    return int(row.split()[2].replace(",", ""))


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> SanitizedBuild:
    return sanitized.build(tmp_path_factory.mktemp("sanitized"))


def test_a_million_inputs_under_sanitizers(build: SanitizedBuild) -> None:
    output = fuzz(f"--runs={SANITIZED_RUNS}", f"--sanitized={build.folder}")
    assert runs_of(output) >= SANITIZED_RUNS


def test_the_compiled_modules_are_the_sanitized_ones(build: SanitizedBuild) -> None:
    program = "import profiles.engine.hashing as module; print(module.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=build.folder,
        env=build.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    path = Path(done.stdout.strip())
    assert path.is_relative_to(build.folder)
    assert REPORTS.search(path.read_bytes())


def test_new_inputs_by_coverage() -> None:
    output = fuzz(f"--at-least={GUIDED_RUNS_OF_EACH}")
    assert runs_of(output) >= GUIDED_RUNS_OF_EACH * len(SHARES)
