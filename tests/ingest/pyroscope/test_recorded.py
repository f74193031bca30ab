"""Requests recorded from Pyroscope's clients (tests/end_to_end/pyroscope/recording.py)."""

from typing import NamedTuple

import pytest

from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import codec
from profiles.models import Profile
from tests.ingest.pyroscope.client import PyroscopeClient

pytestmark = pytest.mark.django_db(transaction=True)


class Expected(NamedTuple):
    name: str
    type: str
    metric: str
    function: str  # with the largest self value, or in its name
    service: str
    language: str
    duration: float  # seconds, rounded
    labels: dict[str, str] = {}


PYTHON, GO, NODE, JAVA = "shop.python", "shop.go", "shop.nodejs", "shop.java"
CASES = (
    Expected("python", "CPU", "cpu", "hot_function", PYTHON, "python", 4),
    Expected("python", "HEAP", "inuse_space", "<module>", PYTHON, "python", 0),
    Expected("python", "HEAP_ALLOC", "alloc_space", "hot_function", PYTHON, "python", 4),
    Expected("python-0-8", "CPU", "cpu", "hot_function", PYTHON, "python", 10),
    Expected("nodejs-wall", "WALL", "wall", "hotFunction", NODE, "nodejs", 4),
    Expected("nodejs-wall", "CPU", "cpu", "hotFunction", NODE, "nodejs", 4),
    Expected("nodejs-heap", "HEAP", "inuse_space", "", NODE, "nodejs", 0),
    Expected("go-cpu", "CPU", "cpu", "main.hotFunction", GO, "go", 4),
    Expected("go-heap", "HEAP", "inuse_space", "main.main", GO, "go", 0),
    Expected("go-heap", "HEAP_ALLOC", "alloc_space", "main.main", GO, "go", 4),
    Expected("go-goroutine", "THREADS", "goroutine", "runtime.gopark", GO, "go", 0),
    Expected("go-mutex", "CONTENTION", "delay", "Unlock", GO, "go", 4, {"contention": "mutex"}),
    Expected("go-block", "CONTENTION", "delay", "select", GO, "go", 4, {"contention": "block"}),
    Expected("java", "CPU", "cpu", "Shop.hotFunction", JAVA, "java", 4),
    Expected("java", "HEAP_ALLOC", "alloc_space", "byte[]", JAVA, "java", 4),
)


def hottest(tree: Tree, metric: str) -> str:
    """Return the name of the function with the largest sum of self values."""
    values = tree.self[[metric.name for metric in tree.metrics].index(metric)]
    sums: dict[str, int] = {}
    for node, value in enumerate(values.tolist()):
        name = tree.frames.strings[tree.frames.name[tree.frame[node]]]
        sums[name] = sums.get(name, 0) + value
    return max(sums, key=lambda name: sums[name])


@pytest.mark.parametrize("expected", CASES, ids=lambda case: f"{case.name}-{case.type}")
def test_recorded_request_is_stored_with_its_labels(
    expected: Expected, client: PyroscopeClient
) -> None:
    response = client.replay(expected.name)
    assert response.status_code == 200, response.text
    row = Profile.objects.select_related("deployment").get(type=expected.type)
    assert (row.service, row.deployment.language) == (expected.service, expected.language)
    assert row.deployment.version == "1.4+b"
    zone = "eu-west" if expected.service == JAVA else "eu/west 1"
    assert row.deployment.zone == zone
    assert row.labels == {"instance": "pod-1"} | expected.labels
    assert abs(row.duration_ns / 1e9 - expected.duration) < 1.5
    tree = codec.decode(bytes(row.tree))
    assert expected.metric in [name for name, *_ in row.totals]
    assert row.weight == {name: total for name, _, total in row.totals}[expected.metric]
    assert expected.function in hottest(tree, expected.metric)


@pytest.mark.parametrize("name", sorted({case.name for case in CASES}))
def test_repeated_request_stores_exactly_its_profiles(name: str, client: PyroscopeClient) -> None:
    for _ in range(2):
        assert client.replay(name).status_code == 200
    stored = sorted(Profile.objects.values_list("type", flat=True))
    assert stored == sorted(case.type for case in CASES if case.name == name)


def test_labels_of_stacks_are_kept(client: PyroscopeClient) -> None:
    for name in ("python", "python-0-8", "nodejs-wall", "java"):
        client.replay(name)
    for row in Profile.objects.filter(type="CPU"):
        tree = codec.decode(bytes(row.tree))
        assert tree.labelled
        labels = {(label.key, label.value) for each in tree.labelled.label_sets for label in each}
        assert ("route", "/cart") in labels
