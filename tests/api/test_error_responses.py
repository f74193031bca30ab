"""Error responses of the query API."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from common import write_behind
from endpoints.params.reader import MAX_QUERY
from profiles.query import QueryContext
from projects.credentials import keys
from projects.models import DayRejections, Deployment, Project
from tests.api.conftest import Ask
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
SLOW = r"f=show:/((a{0,100}){0,100}){0,100}/"


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("tree", {"service": None}, "service: is missing"),
        ("tree", {"type": None}, "type: is missing"),
        ("tree", {"type": "GPU"}, "type: 'GPU' is none of CPU, WALL"),
        ("tree", {"type": ["CPU", "WALL"]}, "type: is given 2 times"),
        ("tree", {"service": "s" * 513}, "service: may have 512 characters"),
        ("tree", {"zone": "z\0"}, "zone: may not have the character NUL"),
        ("tree", {"zone": ["z"] * 51}, "zone: is given 51 times; it may be 50 times"),
        ("tree", {"label.": "a"}, "label.: has no name"),
        ("tree", {"label.x": "a" * 513}, "label.x: may have 512 characters"),
        ("tree", {"from": "yesterday"}, "from: 'yesterday' is neither now nor an RFC 3339 time"),
        ("tree", {"from": "2026-11-20T12:00:00"}, "from: '2026-11-20T12:00:00' is neither"),
        ("tree", {"from": "1026-11-20T12:00:00Z"}, "from: '1026-11-20T12:00:00Z' is neither"),
        ("tree", {"from": "2026-11-20T14:00:00Z"}, "from: has to be before the end"),
        ("tree", {"from": "2024-11-20T14:00:00Z"}, "from: has to be before the end, by 400 days"),
        ("tree", {"span": "1h"}, "from: and to stand alone"),
        ("top", {"from": None, "to": None, "span": "1y"}, "span: '1y' is no duration like 10m"),
        ("top", {"from": None, "to": None, "span": "0s"}, "span: '0s' is no duration"),
        ("top", {"from": None, "to": None, "span": "999999999w"}, "'999999999w' is no duration"),
        ("top", {"weight": "0"}, "weight: '0' is no percentage"),
        ("top", {"weight": "nan"}, "weight: 'nan' is no percentage"),
        ("top", {"weights": "9..1"}, "weights: '9..1' is no range"),
        ("top", {"sort": "colour"}, "sort: 'colour' is none of self, total, count, name, -self"),
        ("top", {"size": "0"}, "size: '0' is no number from 1"),
        ("tree", {"sort": "self"}, "sort: 'self' is none of weight, name"),
        ("tree", {"view": "sideways"}, "view: 'sideways' is none of flame, bottomup"),
        ("tree", {"group": "file"}, "group: 'file' is none of function, line"),
        ("tree", {"root": "7"}, "root: '7' is no id of a node"),
        ("tree", {"root": "0" * 15 + "7"}, "No node 0000000000000007"),
        ("tree", {"f": "only:main"}, "f: 'only:main' is no filter; there are show:…, hide:…"),
        ("tree", {"f": "show:"}, "f: Empty filter: enter a part of a name"),
        ("tree", {"f": "show:/a(/"}, "f: Invalid regex /a(/: missing )"),
        ("tree", {"f": "show:" + "a" * 501}, "f: Filter too long: it has 501 characters"),
        ("tree", {"format": "xml"}, "format: 'xml' is none of json, pprof, folded, speedscope"),
        ("top", {"format": "pprof"}, "format: 'pprof' is none of json, csv"),
        ("tree", {"colour": "self"}, "colour: is unknown here; there are format, service, type"),
        ("services", {}, "service: is unknown here"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_400_and_named(
    name: str, changes: dict[str, Any], said: str, ask: Ask
) -> None:
    assert_error_response(ask(name, **changes), 400, "INVALID_ARGUMENT", said)


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("a=" + "b" * MAX_QUERY, "parameters may have 16,384 bytes"),
        ("&".join(f"a{i}=b" for i in range(201)), "may have 200 parameters"),
        ("service=%ff", "have to be UTF-8"),
        ("nonsense=%00", "nonsense: may not have the character NUL"),
        ("key=%00", "key: may not have the character NUL"),
        ("service=" + "s" * 9000, "service: may have 8,192 characters; here are 9,000"),
    ],
)
def test_query_string_over_a_limit_is_400(query: str, said: str, reader: Client) -> None:
    response = reader.request("GET", f"/api/v1/projects/-/tree?{query}")
    assert_error_response(response, 400, "INVALID_ARGUMENT", said)


def test_regex_that_expands_too_far_is_400(ask: Ask) -> None:
    assert_error_response(ask("tree", f=SLOW[2:]), 400, "INVALID_ARGUMENT", "f: ", "Invalid regex")
    assert ask("tree", f="show:/^(a+)+$/").status_code == 200


def test_unknown_path_is_404(reader: Client) -> None:
    for path in ("/", "/nothing", "/tree/"):
        response = reader.request("GET", f"/api/v1/projects/-{path}")
        assert_error_response(response, 404, "NOT_FOUND")


def test_another_method_is_405(reader: Client) -> None:
    for method in ("POST", "DELETE"):
        response = reader.request(method, "/api/v1/projects/-/tree")
        assert_error_response(response, 405, "UNIMPLEMENTED", "GET")
        assert response.headers["Allow"] == "GET"


@pytest.mark.usefixtures("stopped_clock")
def test_queries_over_the_minute_limit_of_a_project_are_429_for_all_keys(
    shop: Deployment, settings: Settings, project: Project, stranger: Client
) -> None:
    settings.QUERIES_PER_MINUTE = 2
    texts = [keys.create(project, f"{nth}", write=False, read=True)[1] for nth in range(6)]
    paths = ["/api/v1/projects/-/services", "/v2/projects/-/profiles"] * 3
    responses = [
        Client(project.project_id, text).request("GET", path)
        for text, path in zip(texts, paths, strict=True)
    ]
    rejected = [response for response in responses if response.status_code == 429]
    assert len(rejected) == 4
    assert_error_response(
        rejected[0], 429, "RESOURCE_EXHAUSTED", "FLAMEWATCH_QUERIES_PER_MINUTE allows 2"
    )
    assert 0 < int(rejected[0].headers["retry-after"]) <= 90
    write_behind.write_now()
    counts = DayRejections.objects.filter(reason="queries_per_minute").values_list("count")
    assert sum(count for (count,) in counts) == len(rejected)
    other = stranger.request("GET", "/api/v1/projects/-/services")
    assert other.status_code == 200


def test_a_query_that_takes_too_long_is_504(
    ask: Ask, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.QUERY_SECONDS = 0.5
    ended = threading.Event()
    monkeypatch.setattr("api.resources.tree.run_tree", until_abandoned(ended))
    response = ask("tree")
    assert_error_response(response, 504, "DEADLINE_EXCEEDED", "0.5 s (FLAMEWATCH_QUERY_SECONDS)")
    assert "retry-after" in response.headers
    assert ended.wait(30)


def until_abandoned(
    ended: threading.Event, begun: Callable[[], object] = lambda: None
) -> Callable[..., None]:
    """Return a query that never ends by itself, but checks for cancellation."""

    def run(context: QueryContext, *_: object) -> None:
        begun()
        try:
            while True:
                context.check()
                time.sleep(0.001)
        finally:
            ended.set()

    return run


def test_a_project_that_is_another_tenants_is_404(stranger: Client, project: Project) -> None:
    response = stranger.request("GET", f"/api/v1/projects/{project.project_id}/tree")
    assert_error_response(response, 404, "NOT_FOUND")
