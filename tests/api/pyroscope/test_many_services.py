"""Requests of Grafana's editor for a project with more services than are read one by one."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from api.pyroscope import labels, matching
from profiles.compaction.compactor import Compactor
from projects.models import Project
from tests.api.pyroscope.conftest import CPU, HOUR, NOON_MS, Call
from tests.ingest.client import Client
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days

pytestmark = pytest.mark.django_db(transaction=True)
SERVICES = 12
MAX_LABELLED = 10  # instead of 50, so that storing more services than that takes no seconds
MS = 1_000_000
BY_TYPE = [f'{{__profile_type__="{CPU}"}}']


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (labels, matching):
        monkeypatch.setattr(module, "MAX_LABELLED", MAX_LABELLED)


@pytest.fixture(params=["head", "hours", "days"])
def fleet(project: Project, other_project: Project, request: pytest.FixtureRequest) -> None:
    """Store a profile of 5 ms of each service, in one form of storage; another project has one."""
    for number in range(SERVICES):
        of = rows.deployment(project, f"service-{number:02}", version=str(number % 3))
        stacks = {"main": 2000, f"main;own{number:02}": 3000}
        labels = {"pod.name": f"pod-{number:02}", "region": "eu" if number % 2 else "us"}
        rows.stored(of, stacks, minutes=number % 5, labels=labels)
    stranger = rows.deployment(other_project, "stranger", zone="secret-zone", version="secret")
    rows.stored(stranger, {"secret": 1}, labels={"secret": "secret"})
    later = max(rows.NOON, timezone.now()) + timedelta(days=4)
    for each in (project, other_project):
        if request.param != "head":
            Compactor(each.pk, later).build_level1()
        if request.param == "days":
            sum_days(each.pk, later)


@pytest.fixture
def ask(fleet: None, reader: Client) -> Call:
    day = {"start": NOON_MS - 12 * 3_600_000, "end": NOON_MS + 12 * 3_600_000}

    def post(procedure: str, **message: Any) -> Any:
        path = f"/querier.v1.QuerierService/{procedure}"
        response = reader.request("POST", path, json={**day, **message})
        assert "secret" not in response.text
        assert "stranger" not in response.text
        return response

    return post


def test_label_names_of_all_services(ask: Call) -> None:
    fixed = ["__profile_type__", "service_name", "version", "zone"]
    for matchers in ([], ["{}"], BY_TYPE, ['{region=~"e.*"}'], ['{version="1"}']):
        response = ask("LabelNames", matchers=matchers)
        assert response.status_code == 200, response.text
        assert response.json()["names"] == sorted([*fixed, "pod_name", "region"]), matchers


LABEL_VALUES: list[tuple[str, list[str], list[str]]] = [
    ("region", [], ["eu", "us"]),
    ("pod_name", BY_TYPE, [f"pod-{number:02}" for number in range(SERVICES)]),
    ("version", ["{}"], ["0", "1", "2"]),
    ("version", ['{version!="1"}'], ["0", "2"]),
    ("zone", BY_TYPE, ["eu-1"]),
    ("no_such_label", [], []),
]


def test_label_values_of_all_services(ask: Call) -> None:
    for name, matchers, expected in LABEL_VALUES:
        response = ask("LabelValues", name=name, matchers=matchers)
        assert response.status_code == 200, response.text
        assert response.json().get("names", []) == expected, (name, matchers)


def test_label_sets_of_all_services(ask: Call) -> None:
    sets = ask("Series", labelNames=["service_name", "version"]).json()["labelsSet"]
    found = [tuple(pair["value"] for pair in each["labels"]) for each in sets]
    assert found == [(f"service-{number:02}", str(number % 3)) for number in range(SERVICES)]


SELECTED_SERVICES = {
    "{}": SERVICES,
    "": SERVICES,
    '{version="1"}': SERVICES // 3,
    '{region="eu"}': SERVICES // 2,
    '{pod_name="pod-07"}': 1,
    '{no_such_label="x"}': 0,
    '{no_such_label=""}': SERVICES,
}


def test_flame_graph_and_series_of_all_services(ask: Call) -> None:
    for selector, count in SELECTED_SERVICES.items():
        selected = {"profile_typeID": CPU, "label_selector": selector}
        graph = ask("SelectMergeStacktraces", **selected).json().get("flamegraph", {"total": "0"})
        assert int(graph["total"]) == count * 5 * MS, selector
        functions = {name for name in graph.get("names", ()) if name.startswith("own")}
        assert len(functions) == count, selector
        result = ask("SelectSeries", **selected, step=60, group_by=["service_name"]).json()
        series = result.get("series", ())
        sums = [sum(point["value"] for point in each["points"]) for each in series]
        assert sums == [5 * MS] * count, selector


def test_many_services_with_compared_labels_need_a_condition(ask: Call) -> None:
    selected = {"profile_typeID": CPU, "label_selector": '{region!="eu"}'}
    response = ask("SelectMergeStacktraces", **selected)
    assert response.status_code == 400
    assert f"{SERVICES} services or types; a request that compares" in response.json()["message"]
    narrowed = {**selected, "label_selector": '{region!="eu", service_name=~"service-0.*"}'}
    assert int(ask("SelectMergeStacktraces", **narrowed).json()["flamegraph"]["total"]) == 25 * MS


def test_too_many_inputs_need_a_shorter_range(ask: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MAX_INPUTS", SERVICES - 1)
    reason = (
        f"{SERVICES} services with {SERVICES} profiles and blocks to read;"
        f" the limit of one request is {SERVICES - 1}"
    )
    one = '{service_name="service-01"}'
    for procedure in ("SelectMergeStacktraces", "SelectSeries", "SelectHeatmap"):
        response = ask(procedure, profile_typeID=CPU, step=60)
        assert response.status_code == 400, procedure
        assert reason in response.json()["message"]
        response = ask(procedure, profile_typeID=CPU, step=60, label_selector=one)
        assert response.status_code == 200, procedure


def test_number_of_statements_for_names_does_not_grow_with_services(
    fleet: None, reader: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(20):
        path = "/querier.v1.QuerierService/LabelNames"
        assert reader.request("POST", path, json=HOUR).status_code == 200
