"""Documents of `/pyroscope/`, which Grafana's profiles app reads."""

from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.api.pyroscope.conftest import CPU, HOUR, NOON_MS
from tests.ingest.client import Client

pytestmark = pytest.mark.django_db(transaction=True)
MS = 1_000_000
SHOP, TILL = (f'{CPU}{{service_name="{name}"}}' for name in ("shop", "till"))


@pytest.fixture
def client(shops: None, reader: Client) -> Client:
    return reader


def get(client: Client, path: str, **parameters: Any) -> httpx.Response:
    return client.request("GET", f"/pyroscope/{path}?{urlencode(parameters)}")


def test_render_has_a_flame_graph_and_a_timeline(client: Client) -> None:
    of = {"from": HOUR["start"], "until": HOUR["end"], "format": "json", "max-nodes": 100}
    document = get(client, "render", query=SHOP, **of).json()
    assert document["flamebearer"]["numTicks"] == 27 * MS
    assert document["flamebearer"]["names"][:2] == ["total", "main"]
    assert document["flamebearer"]["levels"][1] == [0, 27 * MS, 6 * MS, 1]
    assert document["metadata"] == {
        "format": "single",
        "spyName": "",
        "sampleRate": 1_000_000_000,
        "units": "samples",
        "name": "cpu",
    }
    timeline = document["timeline"]
    assert (timeline["startTime"], timeline["durationDelta"]) == (NOON_MS // 1000, 15)
    assert len(timeline["samples"]) == 241
    assert [timeline["samples"][i] for i in (0, 4, 8, 12)] == [9 * MS, 9 * MS, 9 * MS, 0]


def test_render_diff_has_both_sides(client: Client) -> None:
    of = {"leftFrom": HOUR["start"], "leftUntil": HOUR["end"]}
    of |= {"rightFrom": NOON_MS // 1000, "rightUntil": NOON_MS // 1000 + 3600}
    document = get(client, "render-diff", leftQuery=TILL, rightQuery=SHOP, **of).json()
    assert (document["leftTicks"], document["rightTicks"]) == (5 * MS, 27 * MS)
    assert document["metadata"]["format"] == "double"
    assert document["flamebearer"]["levels"][1] == [0, 5 * MS, 2 * MS, 0, 27 * MS, 6 * MS, 1]


@pytest.mark.parametrize(
    ("path", "parameters", "reason"),
    [
        ("render", {}, "query: is missing"),
        ("render", {"query": "cpu{}"}, "not a profile type"),
        ("render", {"query": SHOP, "from": "yesterday"}, "from"),
        ("render", {"query": SHOP, "format": "dot"}, "format"),
        ("render", {"query": SHOP, "max-nodes": "many"}, "max-nodes"),
        ("render-diff", {"leftQuery": SHOP}, "rightQuery"),
        ("render-diff", {"leftQuery": SHOP, "rightQuery": "wall:a:b:c:d"}, "one profile type"),
        ("label-values", {}, "label: is missing"),
    ],
)
def test_bad_parameters_are_named(
    path: str, parameters: dict[str, str], reason: str, client: Client
) -> None:
    ranges = {"from": "now-1h", "leftFrom": "now-1h", "rightFrom": "now-1h"}
    response = get(client, path, **(ranges | parameters))
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")
    assert reason in response.json()["message"]
