"""A million mutated inputs of all targets, in modules compiled with sanitizers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import sanitized
from tests.fuzz.command import fuzz
from tests.fuzz.sanitized import SanitizedBuild

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(5400)]
RUNS = 1_000_000
REPORTS = re.compile(rb"__asan_report_(load|store)")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> SanitizedBuild:
    return sanitized.build(tmp_path_factory.mktemp("sanitized"))


def test_million_inputs_cause_no_sanitizer_report(build: SanitizedBuild) -> None:
    assert fuzz(f"--runs={RUNS}", f"--sanitized={build.folder}") >= RUNS


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
