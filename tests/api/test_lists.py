"""Lists by `…/services`, `…/profiles` and `…/deployments`."""

from typing import Any

import pytest

from projects.models import Deployment, Project
from tests.api.conftest import HOUR, Ask
from tests.ingest.client import assert_error_response
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)
NOTHING = {"service": None, "type": None, "from": None, "to": None}


def test_services_have_types_versions_zones_and_profile_counts(ask: Ask) -> None:
    document = ask("services", **NOTHING | HOUR).json()
    assert document["services"] == [
        {
            "service": "shop",
            "types": ["CPU"],
            "versions": ["2", "1"],
            "zones": ["eu-1", "us-1"],
            "profiles": 3,
            "last_profile": "2026-11-20T12:02:00+00:00",
        }
    ]
    assert ask("services", **NOTHING).json()["services"][0]["profiles"] == 0


def test_profiles_are_listed_newest_first_with_their_fields(ask: Ask, shop: Deployment) -> None:
    document = ask("profiles", zone="eu-1").json()
    assert (document["profiles"], document["total"]) == (2, 18_000_000)
    newest = document["rows"][0]
    project, _, name = newest.pop("name").rpartition("/profiles/")
    assert project == f"projects/{shop.project.project_id}"
    assert name
    assert newest == {
        "time": "2026-11-20T12:01:00+00:00",
        "duration_s": 10,
        "zone": "eu-1",
        "version": "1",
        "weight": 9_000_000,
        "labels": {"instance": "b"},
        "agent": "",
    }
    assert document["next_page"] is None


def test_order_heaviest_lists_the_largest_profiles_first(ask: Ask, shop: Deployment) -> None:
    rows.stored(shop, {"main": 1})
    weights = [row["weight"] for row in ask("profiles", order="heaviest").json()["rows"]]
    assert weights == [9_000_000] * 3 + [1000]
    assert_error_response(
        ask("profiles", order="best"), 400, "INVALID_ARGUMENT", "newest, heaviest"
    )


@pytest.mark.parametrize("name", ["profiles", "deployments"])
def test_pages_follow_each_other(name: str, ask: Ask, project: Project) -> None:
    for zone in "abc":
        rows.stored(rows.deployment(project, zone=zone), minutes=5)
    usual: dict[str, Any] = {} if name == "profiles" else NOTHING
    seen, page = [], ""
    while page is not None:
        document = ask(name, size=2, page=page or None, **usual).json()
        seen += document["rows"]
        page = document["next_page"]
    assert seen == ask(name, **usual).json()["rows"]
    assert len(seen) == (6 if name == "profiles" else 5)


@pytest.mark.parametrize(
    "mark",
    ["x", "~2026-11-20T12:00:00~1", f"~2026-11-20T12:00:00+00:00~{10**30}", f"{10**30}~now~1"],
)
def test_invalid_page_is_400(mark: str, ask: Ask) -> None:
    assert_error_response(ask("profiles", page=mark), 400, "INVALID_ARGUMENT", "page")


def test_deployments_are_listed_and_filtered_by_service(ask: Ask, project: Project) -> None:
    rows.deployment(project, service="billing")
    found = ask("deployments", **NOTHING).json()["rows"]
    assert [(row["service"], row["zone"], row["version"]) for row in found] == [
        ("shop", "eu-1", "1"),
        ("shop", "us-1", "2"),
        ("billing", "eu-1", "1"),
    ]
    assert found[0]["types"] == ["CPU"]
    assert found[0]["first_seen"] == "2026-11-20T12:00:00+00:00"
    assert len(ask("deployments", **NOTHING | {"service": "billing"}).json()["rows"]) == 1


def test_lists_have_nothing_of_another_tenant(ask: Ask, other_project: Project) -> None:
    rows.stored(rows.deployment(other_project, service="secret"))
    for name in ("services", "deployments"):
        assert "secret" not in ask(name, **NOTHING).text
