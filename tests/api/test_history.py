"""Functions over time, by `…/history`."""

import pytest

from tests.api.conftest import Ask
from tests.ingest.client import assert_error_response

pytestmark = pytest.mark.django_db(transaction=True)


def test_steps_add_up_to_the_range(ask: Ask) -> None:
    document = ask("history", step="1m").json()
    steps = document["steps"]
    assert steps["profiles"][:4] == [1, 1, 1, 0]
    assert (document["step_s"], len(steps["start"])) == (60, 60)
    assert sum(steps["total"]) == document["total"] == 27_000_000
    bar = next(line for line in document["functions"] if line["name"] == "bar")
    assert bar["self"][:4] == [5_000_000, 5_000_000, 5_000_000, 0]
    assert [span["version"] for span in document["versions"]] == ["1", "2"]


def test_functions_are_chosen_by_name_or_pattern(ask: Ask) -> None:
    named = ask("history", function=["foo1", "main"]).json()["functions"]
    assert {line["name"] for line in named} == {"foo1", "main"}
    shown = ask("history", show="/foo/", hide="foo2").json()["functions"]
    assert [line["name"] for line in shown] == ["foo1"]
    assert len(ask("history", size=2).json()["functions"]) == 2


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("step", "1y", "step: '1y' is no duration"),
        ("step", "1s", "steps"),
        ("size", "51", "size: '51' is no number from 1 to 50"),
        ("show", "/a(/", "show: Invalid regex /a(/"),
        ("group", "file", "group: 'file' is none of"),
    ],
)
def test_a_bad_parameter_is_named(name: str, value: str, said: str, ask: Ask) -> None:
    changes = {name: value} | ({"from": "2026-11-01T12:00:00Z"} if value == "1s" else {})
    assert_error_response(ask("history", **changes), 400, "INVALID_ARGUMENT", said)
