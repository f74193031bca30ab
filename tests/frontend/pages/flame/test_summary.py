"""Summary sentence of a selection."""

from datetime import UTC, datetime

import pytest

from frontend.pages.flame.summary import average
from profiles.engine.metrics import DEFAULT_METRICS
from profiles.query import Coverage, Metric
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECOND = 10**9


CASES = {
    "2.38 s of CPU in a 10 s profile": ("CPU", "cpu", 4_760_000_000),
    "40 s of wall time in a 10 s profile": ("WALL", "wall", 80 * SECOND),
    "182 MiB in use": ("HEAP", "inuse_space", 364 * 2**20),
    "10 MiB allocated in a 10 s profile": (
        "HEAP_ALLOC",
        "alloc_space",
        20 * 2**20,
    ),
    "500 ms of waiting in a 10 s profile": ("CONTENTION", "delay", SECOND),
    "12.5 threads": ("THREADS", "thread", 25),
}


@pytest.mark.parametrize(("sentence", "case"), CASES.items(), ids=list(CASES))
def test_average_of_each_type_has_its_unit_and_duration(
    sentence: str, case: tuple[str, str, int]
) -> None:
    of, name, total = case
    metric = DEFAULT_METRICS[of]
    assert metric.name == name
    found = average(ProfileType(of), metric, Coverage(2, total, 20 * SECOND, NOON, NOON))
    assert f"{found.value} {found.after}" == sentence


def test_average_of_samples_is_a_count() -> None:
    coverage = Coverage(2, 476, 20 * SECOND, NOON, NOON)
    found = average(ProfileType.CPU, Metric("samples", "count"), coverage)
    assert f"{found.value} {found.after}" == "238 samples in a 10 s profile"
