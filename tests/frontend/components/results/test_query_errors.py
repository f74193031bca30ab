"""Error responses of views for JSON: the same statuses and the same form from all of them."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from profiles.query import DeadlinePassed, InvalidQuery
from projects.models import Project, User

pytestmark = pytest.mark.one_database

JSON_VIEWS = ["flame_tree", "compare_tree", "calendar"]
SELECTION = "service=checkout&type=CPU"


def raise_error(error: Exception) -> Callable[..., object]:
    def run(*arguments: object, **values: object) -> object:
        raise error

    return run


@pytest.fixture
def signed_in(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture(params=JSON_VIEWS)
def url(request: pytest.FixtureRequest, project: Project) -> str:
    return f"{reverse(request.param, args=[project.project_id])}?{SELECTION}"


def break_queries(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    for name in [
        "frontend.pages.flame.tree.find_or_merge",
        "frontend.pages.compare.view.find_or_compare",
        "frontend.pages.calendar.view.run_calendar",
    ]:
        monkeypatch.setattr(name, raise_error(error))


def test_client_that_is_not_signed_in_gets_401(client: Client, url: str) -> None:
    response = client.get(url)
    assert (response.status_code, list(response.json())) == (401, ["error"])


def test_invalid_query_gets_400_with_its_text(
    signed_in: Client, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_queries(monkeypatch, InvalidQuery("No such function."))
    response = signed_in.get(url)
    assert (response.status_code, response.json()) == (400, {"error": "No such function."})
    assert response["Cache-Control"] == "private, no-store"


def test_query_over_its_deadline_gets_503(
    signed_in: Client, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_queries(monkeypatch, DeadlinePassed())
    response = signed_in.get(url)
    assert (response.status_code, list(response.json())) == (503, ["error"])


@pytest.mark.parametrize("view", ["flame_tree", "compare_tree"])
def test_address_without_a_service_gets_400(signed_in: Client, project: Project, view: str) -> None:
    response = signed_in.get(reverse(view, args=[project.project_id]))
    assert response.status_code == 400
    assert response.json() == {"error": "The address must name a service and a type."}
