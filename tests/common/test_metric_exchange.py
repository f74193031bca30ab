"""Metrics of several processes of a machine, in the answer of one."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, Metric

from common.metric_exchange import MetricExchange

OTHER = """
import sys
from pathlib import Path
from prometheus_client import CollectorRegistry, Counter
from common.metric_exchange import MetricExchange

registry = CollectorRegistry()
Counter("jobs", "Jobs.", ["kind"], registry=registry).labels("other").inc(5)
MetricExchange(Path(sys.argv[1]), "worker", registry).publish()
print("published", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    Counter("jobs", "Jobs.", ["kind"], registry=registry).labels("own").inc(2)
    return registry


@pytest.fixture
def other_process(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that has published its metrics and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import django\n{OTHER}", str(tmp_path)],
        env={
            "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
            "FLAMEWATCH_DATA_DIR": f"{tmp_path}/data",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "published\n"
    yield process
    process.kill()
    process.communicate()


def values(families: list[Metric]) -> dict[tuple[str, str], float]:
    (family,) = families
    return {
        (sample.labels["process"], sample.labels["kind"]): sample.value
        for sample in family.samples
        if sample.name == "jobs_total"
    }


def test_metrics_of_other_processes_are_included_until_they_end(
    tmp_path: Path, registry: CollectorRegistry, other_process: "subprocess.Popen[str]"
) -> None:
    exchange = MetricExchange(tmp_path, "web", registry)
    assert values(exchange.collect()) == {("web-0", "own"): 2, ("worker-0", "other"): 5}
    other_process.kill()
    other_process.wait()
    assert values(exchange.collect()) == {("web-0", "own"): 2}


def test_each_process_of_a_role_has_its_own_slot(
    tmp_path: Path, registry: CollectorRegistry
) -> None:
    first = MetricExchange(tmp_path, "web", registry)
    second = MetricExchange(tmp_path, "web", registry)
    first.publish()
    second.publish()
    both = {("web-0", "own"): 2.0, ("web-1", "own"): 2.0}
    assert values(first.collect()) == values(second.collect()) == both


def test_damaged_file_of_another_process_is_left_out(
    tmp_path: Path, registry: CollectorRegistry, other_process: "subprocess.Popen[str]"
) -> None:
    (tmp_path / "worker-0.json").write_bytes(b'[{"name": ')
    exchange = MetricExchange(tmp_path, "web", registry)
    assert values(exchange.collect()) == {("web-0", "own"): 2}


def test_folder_that_cannot_be_written_is_an_error(
    tmp_path: Path, registry: CollectorRegistry
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        MetricExchange(tmp_path / "file", "web", registry).publish()
