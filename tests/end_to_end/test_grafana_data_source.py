"""Grafana's data source for Pyroscope: its client, compiled, queries a real server."""

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.end_to_end.clients.installing import go_program
from tests.server import RunningServer, Tenant

pytestmark = [pytest.mark.server, pytest.mark.slow]
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
Query = Callable[..., dict[str, Any]]
_WITHOUT_RANGE = ("Diff", "GetProfileStats")


@pytest.fixture
def tenant(server: RunningServer) -> Tenant:
    """Return a project with two CPU profiles, imported just now, in two versions."""
    tenant = server.add_tenant()
    for version in ("1", "2"):
        imported = httpx.post(
            f"{server.url}/api/v1/projects/-/profiles:import",
            params={"service": "shop", "version": version, "type": "CPU", "unit": "nanoseconds"},
            content="main;work 7000\nmain;rest 2000",
            headers={"Authorization": f"Bearer {tenant.write}"},
        )
        assert imported.status_code in {200, 201}, imported.text
    return tenant


@pytest.fixture
def query(server: RunningServer, tenant: Tenant) -> Query:
    program = go_program("pyroscope_query_go")

    def run(method: str, password: str = tenant.read, **message: Any) -> dict[str, Any]:
        message = message if method in _WITHOUT_RANGE else _range() | message
        command = [str(program), server.url, "grafana", password, method, json.dumps(message)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    return run


def test_the_client_of_grafana_reads_what_is_stored(query: Query, server: RunningServer) -> None:
    types = query("ProfileTypes")["profileTypes"]
    assert CPU in [each["ID"] for each in types]
    of = f'{{__profile_type__="{CPU}", service_name="shop"}}'
    assert {"service_name", "version"} <= {*query("LabelNames", matchers=[of])["names"]}
    assert query("LabelValues", name="version", matchers=[of])["names"] == ["1", "2"]
    sets = query("Series", labelNames=["service_name", "__profile_type__"])["labelsSet"]
    assert ["shop", CPU] in [[pair["value"] for pair in each["labels"]] for each in sets]

    selected = {"profile_typeID": CPU, "labelSelector": '{service_name="shop"}'}
    graph = query("SelectMergeStacktraces", **selected, maxNodes=16384)["flamegraph"]
    assert graph["names"] == ["total", "main", "rest", "work"]
    total = int(graph["total"])
    widths = [int(value) for value in graph["levels"][2]["values"]]
    assert widths == [0, total * 2 // 9, total * 2 // 9, 2, 0, total * 7 // 9, total * 7 // 9, 3]
    one = {**selected, "labelSelector": '{service_name="shop", version=~"1.*"}'}
    assert int(query("SelectMergeStacktraces", **one)["flamegraph"]["total"]) == total // 2

    series = query("SelectSeries", **selected, step=15, groupBy=["version"])["series"]
    assert [each["labels"] for each in series] == [
        [{"name": "version", "value": version}] for version in ("1", "2")
    ]
    assert sum(point["value"] for each in series for point in each["points"]) == total
    pprof = query("SelectMergeProfile", **selected)
    assert sum(int(sample["value"][0]) for sample in pprof["sample"]) == total
    diff = query("Diff", left={**selected, **_range()}, right={**one, **_range()})["flamegraph"]
    assert (int(diff["leftTicks"]), int(diff["rightTicks"])) == (total, total // 2)
    everything = {"profile_typeID": CPU, "labelSelector": "{}"}
    assert int(query("SelectMergeStacktraces", **everything)["flamegraph"]["total"]) == total
    assert {"service_name", "version"} <= {*query("LabelNames", matchers=["{}"])["names"]}
    cost = query("AnalyzeQuery", query=CPU + '{service_name="shop"}')
    assert sum(int(scope.get("profileCount", 0)) for scope in cost["queryScopes"]) == 2
    assert int(cost["queryImpact"]["totalBytesInTimeRange"]) > 0
    site = {"stackTraceSelector": {"callSite": [{"name": "main"}, {"name": "work"}]}}
    part = query("SelectMergeStacktraces", **selected, **site)["flamegraph"]
    assert int(part["total"]) == total * 7 // 9
    assert query("GetProfileStats")["dataIngested"] is True
    assert query("SelectMergeSpanProfile", **selected, spanSelector=["00f067aa0ba902b7"]) == {}

    stranger = server.add_tenant("Other Shop", "bob@example.org")
    assert query("ProfileTypes", password=stranger.read) == {}
    assert query("SelectMergeStacktraces", password=stranger.read, **selected) == {}
    assert query("ProfileTypes", password="fw_wrong")["code"] == "unauthenticated"
    wrong = query("SelectSeries", **{**selected, "profile_typeID": "cpu"}, step=15)
    assert wrong["code"] == "invalid_argument"


def _range() -> dict[str, int]:
    now = int(time.time() * 1000)
    return {"start": now - 3_600_000, "end": now + 60_000}
