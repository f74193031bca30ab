"""Error pages: the error and the next step."""

import pytest
from django.template.loader import render_to_string
from django.test import Client

from projects.models import Project, User


def test_page_of_another_tenant_looks_like_a_missing_one(
    client: Client, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    theirs = client.get("/p/acme-shop/services")
    nobodys = client.get("/p/acme-shoe/services")
    assert theirs.status_code == nobodys.status_code == 404
    assert "There is no such project, or you are not a member of it." in theirs.content.decode()
    assert "charlie@example.org" in theirs.content.decode()


def test_an_unknown_address_is_404_with_a_way_on(client: Client, db: None) -> None:
    response = client.get("/nowhere")
    assert response.status_code == 404
    page = response.content.decode()
    assert "There is no page at this address" in page
    assert 'href="/"' in page


def test_form_without_a_csrf_token_gets_403_with_advice(alice: User, project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    response = client.post("/projects/new", {"name": "Acme"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


@pytest.mark.parametrize("name", ["400.html", "500.html"])
def test_error_pages_render_without_request_or_script(name: str) -> None:
    page = render_to_string(name)
    assert "<script" not in page
    assert "Your projects" in page


def test_too_many_attempts_get_429_with_advice_to_wait(client: Client, db: None) -> None:
    form = {"login": "alice@example.org", "password": "not hers, this one"}
    responses = [client.post("/account/login/", form) for _ in range(40)]
    assert responses[-1].status_code == 429
    assert "Wait a minute" in responses[-1].content.decode()
