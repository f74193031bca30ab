"""Redirects from `/` to the user's first project, and from a project to its services."""

import pytest
from django.test import Client

from projects.models import Project, User


def test_stranger_is_redirected_to_sign_in(client: Client, db: None) -> None:
    assert client.get("/").headers["Location"] == "/account/login/?next=/"


def test_root_redirects_to_the_first_project_of_the_user(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    assert client.get("/").headers["Location"] == "/p/acme-shop/services"


def test_root_redirects_a_user_without_projects_to_a_new_one(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/").headers["Location"] == "/projects/new"


@pytest.mark.parametrize("address", ["/p/acme-shop", "/p/acme-shop/"])
def test_project_url_redirects_to_its_services(
    client: Client, alice: User, project: Project, address: str
) -> None:
    client.force_login(alice)
    assert client.get(address).headers["Location"] == "/p/acme-shop/services"


def test_project_of_another_tenant_is_404(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get("/p/acme-shop").status_code == 404
