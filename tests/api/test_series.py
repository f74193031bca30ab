"""A metric over time by the values of a label, by `…/series`."""

import pytest

from projects.models import Deployment
from tests.api.conftest import Ask
from tests.ingest.client import Client, assert_error_response
from tests.profiles import rows
from tests.profiles.pprofs import labelled_pprof

pytestmark = pytest.mark.django_db(transaction=True)

MS = 1_000_000


def test_values_of_a_label_add_up_to_the_range(ask: Ask) -> None:
    document = ask("series", group_by="version", step="1m").json()
    assert (document["group_by"], document["step_s"], len(document["steps"]["start"])) == (
        "version",
        60,
        60,
    )
    assert document["steps"]["total"][:4] == [9 * MS, 9 * MS, 9 * MS, 0]
    first, second = document["values"]
    assert (first["value"], first["total"], first["profiles"]) == ("1", 18 * MS, 2)
    assert first["totals"][:3] == [9 * MS, 9 * MS, 0]
    assert (second["value"], second["total"], second["duration_s"]) == ("2", 9 * MS, 10)
    assert document["other"] is None


def test_profiles_without_the_label_are_a_value_of_their_own(ask: Ask) -> None:
    document = ask("series", group_by="label.instance").json()
    found = {each["value"]: each["total"] for each in document["values"]}
    assert found == {"a": 9 * MS, "b": 9 * MS, None: 9 * MS}


def test_values_beyond_the_size_are_summed_as_other(ask: Ask) -> None:
    document = ask("series", group_by="label.instance", size=1, f="show:foo1").json()
    (first,) = document["values"]
    assert (first["value"], first["total"]) == ("a", 4 * MS)
    other = document["other"]
    assert (other["values"], other["total"], other["profiles"]) == (2, 8 * MS, 2)
    assert sum(other["totals"]) == 8 * MS
    assert sum(document["steps"]["total"]) == 12 * MS
    assert document["total"] == 27 * MS


def test_without_a_label_there_is_one_value(ask: Ask) -> None:
    document = ask("series").json()
    (one,) = document["values"]
    assert (document["group_by"], one["value"], one["total"]) == (None, None, 27 * MS)


@pytest.fixture
def labelled(shop: Deployment, ask: Ask) -> Ask:
    raw = labelled_pprof({("main;a", "/pay"): 5, ("main;b", "/list"): 3, ("main", ""): 2})
    rows.stored_raw(shop, raw, minutes=30)
    return ask


def test_samples_are_grouped_and_selected_by_their_labels(labelled: Ask) -> None:
    document = labelled("series", group_by="sample.endpoint", version="1").json()
    assert [(e["value"], e["total"], e["profiles"]) for e in document["values"]] == [
        (None, 18_002_000, None),
        ("/pay", 5000, None),
        ("/list", 3000, None),
    ]
    top = labelled("top", **{"sample.endpoint": "/pay"}).json()
    assert top["functions"]["name"] == ["a", "main"]
    assert top["functions"]["total"] == [5000, 5000]
    compared = labelled(
        "compare", **{"sample.endpoint": "/pay", "b.sample.endpoint": "/list"}
    ).json()
    functions = compared["functions"]
    sums = zip(functions["name"], functions["a_total"], functions["b_total"], strict=True)
    assert {*sums} == {("a", 5000, 0), ("b", 0, 3000), ("main", 5000, 3000)}
    assert "samples selected by their labels" in compared["why_no_intervals"]
    tree = labelled("tree", **{"sample.endpoint": "/pay"}, group="line", format="folded")
    assert tree.text == "main;a 5000\n"
    history = labelled("history", **{"sample.endpoint": "/pay"}).json()
    assert sum(history["steps"]["total"]) == 5000
    assert [each["name"] for each in history["functions"]] == ["a"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("group_by", "pod", "group_by: 'pod' is none of version, zone, label.NAME or sample.NAME"),
        ("group_by", "label.", "group_by: 'label.' is none of"),
        ("group_by", "version.x", "group_by: 'version.x' is none of"),
        ("group_by", f"label.{'x' * 513}", "group_by: may have 512 characters"),
        ("sample.", "x", "sample.: has no name of a label"),
        ("step", "1y", "step: '1y' is no duration"),
        ("size", "101", "size: '101' is no number from 1 to 100"),
        ("root", "00000000000000aa", "Remove `root`"),
    ],
)
def test_a_bad_parameter_is_named(name: str, value: str, said: str, ask: Ask) -> None:
    assert_error_response(ask("series", **{name: value}), 400, "INVALID_ARGUMENT", said)


def test_another_tenant_is_not_found(ask: Ask, reader: Client) -> None:
    path = "/api/v1/projects/another/series?service=shop&type=CPU&group_by=version"
    assert_error_response(reader.request("GET", path), 404, "NOT_FOUND", "")
