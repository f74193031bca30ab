"""Fuzzing itself: what it finds, stores, repeats and counts."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import campaign
from tests.fuzz.campaign import Campaign, engine_of, shared_runs
from tests.fuzz.fuzz_target import InputForm
from tests.fuzz.mutation import Mutator
from tests.fuzz.protobuf import join_fields, split_fields
from tests.fuzz.sections import join_sections, split_sections
from tests.paths import ROOT
from tests.profiles.pprofs import EXAMPLE, pprof

RUNS = 400  # each target gets several inputs with an exclamation mark
FAULTY = "tests.fuzz.faulty_targets"
IN_PROCESSES = pytest.mark.slow  # each starts several Python processes


def faulty(findings: Path) -> Campaign:
    return Campaign("mutation", 1, findings, targets=FAULTY)


def test_equal_seeds_give_equal_inputs() -> None:
    first, second, other = (
        list(itertools.islice(Mutator([b"abc", b'{"a":1}'], [b"x"], 50, seed).inputs(), 500))
        for seed in ("1", "1", "2")
    )
    assert first == second != other
    assert len(set(first)) > 400
    assert max(map(len, first)) == 50


def test_sections_are_changed_one_by_one() -> None:
    seed = join_sections([("head", b'{"a":1}'), ("body", bytes(20))])
    mutator = Mutator([seed], [], 1000, "1", InputForm.SECTIONS)
    found = [list(split_sections(data)) for data in itertools.islice(mutator.inputs(), 200)]
    alone = [each for each in found if len(each) == 2 and each[0][1] == b'{"a":1}']
    assert len(alone) > 50
    assert len({body for _, (_, body) in alone}) > 30


def test_most_mutated_messages_are_still_protobuf() -> None:
    seed = pprof(EXAMPLE)
    fields = split_fields(seed)
    assert fields is not None
    assert join_fields(fields) == seed
    mutator = Mutator([seed], [], 5000, "1", InputForm.PROTOBUF)
    found = [split_fields(data) for data in itertools.islice(mutator.inputs(), 200)]
    assert sum(each is not None for each in found) > 120
    assert split_fields(b"\x0a\x05abc") is None


def test_inputs_are_divided_by_share() -> None:
    assert list(shared_runs([1, 3], 100)) == [25, 75]
    assert list(shared_runs([1, 1000], 10)) == [1, 10]
    assert list(shared_runs([1, 3], 100, at_least=40)) == [40, 75]


@IN_PROCESSES
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("fail", "KeyError"),
        ("crash", "ended by SIGSEGV"),
        ("allocate", "MemoryError"),
        ("slow", "steps; 1"),
        ("large", "bytes of memory; 1,0"),
        ("large-part", "MemoryError"),
    ],
)
def test_a_finding_is_stored_with_its_reason_and_can_be_repeated(
    target: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "MOST_CRASHES", 1)
    # A costly input is measured several times: its cost is found, not this limit.
    monkeypatch.setattr(campaign, "INPUT_SECONDS", 60.0)
    result = faulty(tmp_path).run(target, RUNS)
    assert result.findings
    for path in result.findings:
        assert b"!" in path.read_bytes()
        assert reason in path.with_suffix(".log").read_text()
        assert not faulty(tmp_path).run_input(target, path)


@IN_PROCESSES
def test_an_input_that_takes_too_long_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "INPUT_SECONDS", 0.5)
    monkeypatch.setattr(campaign, "MOST_CRASHES", 1)
    result = faulty(tmp_path).run("hang", RUNS)
    assert [b"!" in path.read_bytes() for path in result.findings] == [True]
    assert "of CPU time" in result.findings[0].with_suffix(".log").read_text()


@IN_PROCESSES
@pytest.mark.parametrize(("target", "runs"), [("reject", RUNS), ("large-checks", 50)])
def test_rejections_and_large_checks_are_no_findings(
    target: str, runs: int, tmp_path: Path
) -> None:
    result = faulty(tmp_path).run(target, runs)
    assert (result.runs, result.findings) == (runs, [])


def test_the_engine_without_coverage_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert engine_of("auto") == "mutation"
    assert "atheris is not installed" in capsys.readouterr().out


@IN_PROCESSES
def test_the_command_prints_a_table(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz", "time", "--runs=200", "--engine=mutation"]
    done = subprocess.run(
        [*command, f"--findings={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    header, row, total = done.stdout.splitlines()
    assert header.split() == ["target", "engine", "runs", "seconds", "runs/s", "findings"]
    assert row.split()[:3] == ["time", "mutation", "200"]
    assert total.split()[-1] == "0"
