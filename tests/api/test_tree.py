"""Responses of `…/tree` and `…/top` in every format."""

import csv
import io
from typing import Any

import pytest

from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from projects.models import Deployment
from tests.api.conftest import SHOP, Ask
from tests.ingest.client import assert_error_response
from tests.profiles import rows
from tests.profiles.queries.test_tree import paths

pytestmark = pytest.mark.django_db(transaction=True)
ONE = {"main": 2, "main;foo1": 1.5, "main;foo1;bar": 2.5, "main;foo2": 0.5, "main;foo2;bar": 2.5}


def of(profiles: int) -> dict[str, int]:
    return {path: round(ms * 1_000_000) * profiles for path, ms in ONE.items()}


def test_tree_sums_all_matching_profiles(ask: Ask, shop: Deployment) -> None:
    response = ask("tree")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    assert paths(response.content) == of(3)
    document = response.json()
    assert document["project"] == shop.project.project_id
    assert (document["profiles"], document["total"]) == (3, 27_000_000)
    assert (document["first"], document["last"]) == (
        "2026-11-20T12:00:00+00:00",
        "2026-11-20T12:02:00+00:00",
    )


@pytest.mark.parametrize(
    ("narrowed", "profiles"),
    [
        ({"zone": "eu-1"}, 2),
        ({"zone": ["eu-1", "us-1"]}, 3),
        ({"version": "2"}, 1),
        ({"label.instance": "b"}, 1),
        ({"label.instance": ["a", "b"]}, 2),
        ({"label.instance": "nobody"}, 0),
        ({"from": "2026-11-20T12:01:00Z"}, 2),
        ({"from": "2026-11-20T13:01:00+01:00", "to": "2026-11-20T12:02:00Z"}, 1),
        ({"from": None, "to": None, "span": "2m", "end": "2026-11-20T12:02:30Z"}, 2),
        ({"from": None, "to": None}, 0),
        ({"weight": "33"}, 1),
        ({"weights": "9000000..9000000"}, 3),
        ({"weights": "1..8999999"}, 0),
        ({"service": "other"}, 0),
        ({"type": "WALL"}, 0),
    ],
)
def test_each_parameter_restricts_the_profiles(
    narrowed: dict[str, Any], profiles: int, ask: Ask
) -> None:
    document = ask("tree", **narrowed).json()
    assert document["profiles"] == profiles
    assert sum(document["self"]) == document["total"] == profiles * 9_000_000


def test_profile_parameter_selects_one_profile(ask: Ask) -> None:
    name = ask("profiles").json()["rows"][0]["name"].rpartition("/")[2]
    assert ask("tree", profile=name).json()["profiles"] == 1


def test_filters_apply_in_their_order(ask: Ask) -> None:
    response = ask("tree", f=["show:bar", "hide:foo2", "hideframes:/^foo/", "highlight:main"])
    assert paths(response.content) == {"main": 0, "main;bar": 7_500_000}
    assert response.json()["highlight"] == [0]


def test_the_view_may_be_bottom_up_or_by_line(ask: Ask) -> None:
    assert next(iter(paths(ask("tree", view="bottomup").content))) == "bar"
    assert ask("tree", group="line").json()["frames"]["line"] == [1] * 4


def test_focus_has_callers_and_callees(ask: Ask) -> None:
    document = ask("tree", focus="foo1").json()
    assert document["row"]["total"] == 12_000_000
    assert sum(document["callers"]["self"]) == sum(document["callees"]["self"]) == 12_000_000
    assert document["peek"] == {
        "callers": {"name": ["main"], "file": ["app.py"], "total": [12_000_000]},
        "callees": {"name": ["bar"], "file": ["app.py"], "total": [7_500_000]},
    }


def test_order_by_name_sorts_siblings(ask: Ask, shop: Deployment) -> None:
    rows.stored(shop, {"main;aaa": 1}, minutes=9)
    names = [path.split(";")[1] for path in paths(ask("tree", sort="name").content) if ";" in path]
    assert names == sorted(names)


@pytest.mark.parametrize(
    "said", [{"format": "pprof"}, {"headers": {"Accept": "application/x-protobuf"}}], ids=str
)
def test_pprof_is_returned_by_format_or_accept(said: dict[str, Any], ask: Ask) -> None:
    response = ask("tree", **said)
    assert response.headers["content-type"] == "application/octet-stream"
    assert (
        decode_profile(gunzip(response.content, 2**20), "CPU", DecodeLimits()).weight == 27_000_000
    )


def test_folded_and_speedscope_are_returned_by_format_or_accept(ask: Ask) -> None:
    folded = ask("tree", format="folded", f="show:foo1").text.splitlines()
    assert folded == ["main;foo1 4500000", "main;foo1;bar 7500000"]
    assert ask("tree", headers={"Accept": "text/plain"}, f="show:foo1").text.splitlines() == folded
    assert ask("tree", format="speedscope").json()["profiles"][0]["endValue"] == 27_000_000


def test_top_lists_functions_with_self_and_total(ask: Ask) -> None:
    document = ask("top").json()
    assert (document["profiles"], document["total"], document["all"]) == (3, 27_000_000, 4)
    assert document["metric"] == {"name": "cpu", "unit": "nanoseconds"}
    assert document["functions"] == {
        "name": ["bar", "main", "foo1", "foo2"],
        "file": ["app.py"] * 4,
        "self": [15_000_000, 6_000_000, 4_500_000, 1_500_000],
        "total": [15_000_000, 27_000_000, 12_000_000, 9_000_000],
        "count": [2, 5, 2, 2],
    }


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"sort": "total"}, ["main", "bar", "foo1", "foo2"]),
        ({"sort": "-self", "size": 2}, ["foo2", "foo1"]),
        ({"sort": "name"}, ["bar", "foo1", "foo2", "main"]),
        ({"sort": "count", "size": 1}, ["main"]),
    ],
)
def test_top_is_sorted_and_cut_to_its_size(
    params: dict[str, Any], names: list[str], ask: Ask
) -> None:
    document = ask("top", **params).json()
    assert document["functions"]["name"] == names
    assert document["all"] == 4


def test_top_is_returned_as_csv(ask: Ask) -> None:
    response = ask("top", headers={"Accept": "text/csv"})
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    head, *lines = csv.reader(io.StringIO(response.text))
    assert head[2] == "self (nanoseconds, sum of 3 profiles)"
    assert sum(int(line[2]) for line in lines) == 27_000_000
    assert response.content == ask("top", format="csv").content


@pytest.mark.parametrize(
    ("accept", "form"),
    [("text/html, */*;q=0.1", "application/json"), ("text/csv;q=0.2, text/plain", "text/plain")],
)
def test_accept_header_with_preferences_selects_the_format(
    accept: str, form: str, ask: Ask
) -> None:
    response = ask("tree", headers={"Accept": accept})
    assert response.headers["content-type"].startswith(form)


def test_an_unsupported_media_type_is_406(ask: Ask) -> None:
    response = ask("top", headers={"Accept": "image/png"})
    assert_error_response(response, 406, "INVALID_ARGUMENT", "application/json, text/csv")


def test_a_metric_is_asked_for_by_its_name(ask: Ask) -> None:
    assert ask("tree", metric="cpu").json()["metric"]["unit"] == "nanoseconds"
    assert_error_response(ask("tree", metric="apples"), 400, "INVALID_ARGUMENT", "apples", "cpu")


def test_another_projects_profiles_are_never_counted(ask: Ask, other_project: Any) -> None:
    rows.stored(rows.deployment(other_project))
    assert ask("tree", **SHOP).json()["profiles"] == 3


def test_tree_is_split_by_a_label(ask: Ask) -> None:
    response = ask("tree", split="label.instance")
    document = response.json()
    found = paths(response.content)
    totals = {
        root: sum(own for path, own in found.items() if path.split(";")[0] == root)
        for root in ("instance: a", "instance: b", "instance: (not set)")
    }
    assert totals == dict.fromkeys(totals, 9_000_000)
    assert sum(found.values()) == document["total"]
    frames = document["split"]["frames"]
    assert document["split"]["by"] == "label.instance"
    assert {document["names"][document["frames"]["name"][i]] for i in frames} == {*totals}


def test_a_split_file_has_the_values_at_the_root(ask: Ask) -> None:
    folded = ask("tree", format="folded", split="zone", f="show:foo1").text.splitlines()
    assert "zone: us-1;main;foo1;bar 2500000" in folded
    pprof = decode_profile(
        gunzip(ask("tree", format="pprof", split="zone").content, 2**20), "CPU", DecodeLimits()
    )
    frames = pprof.tree.frames
    roots = pprof.tree.frame[pprof.tree.parent < 0].tolist()
    names = {(frames.strings[frames.name[i]], frames.strings[frames.file[i]]) for i in roots}
    assert names == {("eu-1", "zone"), ("us-1", "zone")}


@pytest.mark.parametrize("said", [{"split": "color"}, {"split": "zone", "focus": "main"}], ids=str)
def test_invalid_split_is_400(said: dict[str, Any], ask: Ask) -> None:
    assert_error_response(ask("tree", **said), 400, "INVALID_ARGUMENT", "split")
