"""Inputs guided by coverage, of each target by itself."""

import pytest

from tests.fuzz.command import fuzz
from tests.fuzz.target_names import SHARES

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]
RUNS = 100_000


@pytest.mark.parametrize("target", SHARES)
def test_coverage_guided_fuzzing_runs_each_target(target: str) -> None:
    assert fuzz(target, f"--runs={RUNS}") >= RUNS
