"""`flamewatch check --benchmark`: files of runs, compared without a server."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flamewatch_client import pprof_file
from flamewatch_client.benchmark_comparison import compare_files
from flamewatch_client.errors import RequestFailed
from flamewatch_client.main import main
from flamewatch_client.pprof_file import read_costs
from profiles.engine.stats.significance import SampleVariance, differences
from tests.paths import ROOT
from tests.profiles.pprof_proto import Profile
from tests.profiles.pprofs import pprof

SAMPLES = ROOT / "tests" / "samples" / "series"
RUNS = 12


Costs = Counter[tuple[str, str]]


def sum_by_protobuf(path: Path) -> tuple[str, Costs, Costs]:
    """Return the last value's name, and self and total costs by function, of another reader."""
    message: Any = Profile.FromString(gzip.decompress(path.read_bytes()))
    texts = [text.decode() for text in message.string_table]
    names = {
        each.id: (texts[each.name], texts[each.filename].rpartition("/")[2])
        for each in message.function
    }
    frames = {
        each.id: [names[line.function_id] for line in each.line] or [(f"{each.address:#x}", "")]
        for each in message.location
    }
    own: Costs = Counter()
    totals: Costs = Counter()
    for sample in message.sample:
        stack = [name for location in sample.location_id for name in frames[location]]
        own[stack[0]] += sample.value[-1]
        for name in set(stack):
            totals[name] += sample.value[-1]
    return texts[message.sample_type[-1].type], own, totals


@pytest.mark.parametrize("name", ["go-cpu-00", "python-wall-00", "node-wall-01"])
def test_costs_are_those_of_protobufs_reader(name: str) -> None:
    path = SAMPLES / f"{name}.pb.gz"
    costs = read_costs(path)
    metric, own, totals = sum_by_protobuf(path)
    assert costs.metric == metric
    assert costs.total == sum(own.values()) > 0
    assert costs.self_costs == own
    assert costs.total_costs == totals


def test_value_is_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "p.pb"
    types = (("samples", "count"), ("cpu", "nanoseconds"))
    path.write_bytes(pprof({"main;f": (3, 30), "main": (1, 10)}, types))
    assert (read_costs(path).metric, read_costs(path).total) == ("cpu", 40)
    samples = read_costs(path, "samples")
    assert (samples.unit, samples.total) == ("count", 4)
    with pytest.raises(RequestFailed, match="no value heap; there are samples, cpu"):
        read_costs(path, "heap")


def test_function_that_calls_itself_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "p.pb"
    path.write_bytes(pprof({"main;f;f;f": 7}))
    costs = read_costs(path)
    assert {name: value for (name, _), value in costs.total_costs.items()} == {"main": 7, "f": 7}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no sample types"),
        (b"hello", "is no profile in pprof"),
        (b"\x1f\x8bbroken", "is no profile in pprof"),
        (pprof({"main": 1})[:-3], "it ends within"),
    ],
)
def test_other_files_are_named(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.pb"
    path.write_bytes(content)
    with pytest.raises(RequestFailed, match=words) as failure:
        read_costs(path)
    assert "broken.pb" in str(failure.value)


@given(data=st.binary(max_size=200), cut=st.integers(0, 400), flip=st.integers(0, 400))
def test_no_bytes_are_an_internal_error(
    data: bytes, cut: int, flip: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = bytearray(pprof({"main;f": 3, "main;g": 4}))
    whole[flip % len(whole)] ^= 1 << (cut % 8)
    path = tmp_path_factory.getbasetemp() / "fuzzed.pb"
    for content in (data, bytes(whole), bytes(whole[: cut % len(whole)]) + data):
        path.write_bytes(content)
        try:
            read_costs(path)
        except RequestFailed as failure:
            assert "fuzzed.pb" in str(failure)  # noqa: PT017  both outcomes are right


def test_large_file_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pprof_file, "MAX_BYTES", 1000)
    path = tmp_path / "bomb.pb.gz"
    path.write_bytes(gzip.compress(bytes(10**6)))
    with pytest.raises(RequestFailed, match="more than 1,000 bytes, unpacked"):
        read_costs(path)


def test_statistics_are_those_of_the_server(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sides = [rng.poisson(mean, (RUNS + extra, 5)) for mean, extra in ((300, 0), (330, 3))]
    sides[0][:, 3] *= rng.random(RUNS) < 0.4  # seldom
    sides[0][:, 4], sides[1][:, 4] = 0, rng.random(RUNS + 3) < 0.2  # too seldom for a test
    for side, folder in zip(sides, ("head", "base"), strict=True):
        write_runs(tmp_path / folder, side)
    document = compare_files(tmp_path / "base", tmp_path / "head", "", as_share=False)
    head, base = (
        SampleVariance(
            len(side), side.sum(axis=0), (side**2.0).sum(axis=0), np.count_nonzero(side, axis=0)
        )
        for side in sides
    )
    expected = differences(head, base)
    columns = document["functions"]
    rows = [columns["name"].index(f"f{each}") for each in range(4)]
    for name in ("low", "high", "p"):
        found = [columns[f"self_{name}"][row] for row in rows]
        # The client approximates the quantiles of t.
        assert found == pytest.approx(getattr(expected, name)[:4].tolist(), rel=1e-3)
    if "f4" in columns["name"]:
        assert columns["self_p"][columns["name"].index("f4")] is None


# -- The command


def write_runs(folder: Path, runs: Any) -> None:
    folder.mkdir()
    for number, values in enumerate(runs):
        stacks = {f"main;f{each}": int(value) for each, value in enumerate(values) if value}
        (folder / f"{number:02}.pb.gz").write_bytes(gzip.compress(pprof(stacks)))


def simulate_runs(seed: int, *, noise: float = 0.05, **factors: float) -> Any:
    means = np.full(8, 100_000.0)
    for name, factor in factors.items():
        means[int(name[1:])] *= factor
    return means * (1 + noise * np.random.default_rng(seed).standard_normal((RUNS, 8)))


def check(folder: Path, *options: str) -> int:
    paths = ("--base", str(folder / "base"), "--head", str(folder / "head"))
    return main(["check", "--benchmark", *paths, *options])


def test_slower_function_fails_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_runs(tmp_path / "base", simulate_runs(1))
    write_runs(tmp_path / "head", simulate_runs(2, f3=1.3))
    report = tmp_path / "report.md"
    assert check(tmp_path, "--json", "--markdown", str(report)) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "regression"
    assert [each["name"] for each in document["functions"]] == ["f3"]
    assert document["functions"][0]["percent"] == pytest.approx(30, abs=6)
    assert (document["base"]["profiles"], document["head"]["profiles"]) == (RUNS, RUNS)
    assert "](" not in report.read_text()  # there is no page to link to


def test_equal_runs_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_runs(tmp_path / "base", simulate_runs(1))
    write_runs(tmp_path / "head", simulate_runs(2))
    assert check(tmp_path) == 0
    text = capsys.readouterr().out
    assert "no regression" in text
    assert "Comparison:" not in text


def test_runs_of_a_fixed_time_are_compared_by_share(tmp_path: Path) -> None:
    slower = simulate_runs(2, noise=0.01, f3=1.6)
    fixed = slower * (simulate_runs(1, noise=0).sum(axis=1) / slower.sum(axis=1))[:, None]
    write_runs(tmp_path / "base", simulate_runs(1, noise=0.01))
    write_runs(tmp_path / "head", fixed)
    assert check(tmp_path, "--share", "--threshold", "30") == 1


def test_few_runs_say_how_many_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_runs(tmp_path / "base", simulate_runs(1)[:3])
    write_runs(tmp_path / "head", simulate_runs(2))
    assert check(tmp_path) == 3
    assert "Each version needs 8 or more: run the benchmark more often." in capsys.readouterr().out
    assert check(tmp_path, "--too-few", "pass") == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--zone", "eu"), "Files have no zone"),
        (("--service", "shop"), "Files have no service"),
        (("--metric", "heap"), "There is no value heap"),
    ],
)
def test_options_of_a_server_are_rejected(
    options: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("base", "head"):
        write_runs(tmp_path / name, simulate_runs(1))
    assert check(tmp_path, *options) == 2
    assert words in capsys.readouterr().err


def test_missing_and_empty_folders_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path) == 2
    assert "head is no folder" in capsys.readouterr().err
    for name in ("base", "head"):
        (tmp_path / name).mkdir()
    assert check(tmp_path) == 2
    assert "has no files" in capsys.readouterr().err


def test_versions_need_a_service(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--base", "1", "--head", "2"]) == 2
    assert "Name the service by --service" in capsys.readouterr().err
