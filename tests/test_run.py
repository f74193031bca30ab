"""Test runner: stages, closing line, and processes left behind by tests."""

import subprocess
import sys
from collections import Counter

import pytest

from tests import run
from tests.paths import ROOT
from tests.stages import LEVELS, PytestRun

LEAVES_A_PROCESS = """
import subprocess, sys
from tests import leftovers
with leftovers.adopted():
    subprocess.run([sys.executable, "-c", "import subprocess; subprocess.Popen(['sleep', '987'])"])
    print(leftovers.end_all())
    print(leftovers.end_all())
"""


def test_the_closing_line_has_the_form_of_pytest_s_own() -> None:
    counts = Counter(passed=4500, skipped=3, rerun=1, failed=0)
    assert run.StageOutcome(counts, []).closing_line(700.123) == (
        "================== 4500 passed, 3 skipped, 1 rerun in 700.12s =================="
    )


def test_the_closing_line_names_failures_first() -> None:
    line = run.StageOutcome(Counter(passed=2, failed=1, error=1), []).closing_line(1)
    assert line.strip("= ") == "1 failed, 2 passed, 1 errors in 1.00s"


def test_each_level_has_the_stages_of_the_one_below() -> None:
    assert set(LEVELS["test"]) < set(LEVELS["test-all"])
    assert all("not nightly" in stage.markers for stage in LEVELS["check"])


def test_paths_of_the_stages_exist() -> None:
    for stage in LEVELS["test-all"] + LEVELS["check"]:
        for path in stage.paths:
            assert (ROOT / path.removeprefix("--ignore=")).exists(), path


def test_a_stage_with_workers_keeps_the_tests_of_a_file_together() -> None:
    arguments = PytestRun("some", ("tests",), "real", workers=2).arguments()
    assert arguments == ["tests", "-m", "real", "-n", "2", "--dist", "loadfile"]


def test_stages_of_few_tests_collect_only_the_files_with_their_marker() -> None:
    [servers] = [stage for stage in LEVELS["test"] if stage.name == "server processes"]
    assert "tests/profiler_site/cli/test_up.py" in servers.paths
    assert "tests/api/test_tree.py" not in servers.paths


@pytest.mark.real
def test_leftover_process_is_named_and_ended() -> None:
    program = f"import tests.leftovers as l; l._GRACE_SECONDS = 0.2\n{LEAVES_A_PROCESS}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    first, second = done.stdout.splitlines()
    assert first.endswith("sleep 987']"), done.stderr
    assert second == "[]"
