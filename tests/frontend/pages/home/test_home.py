"""Redirects from `/` to the user's first project, and from a project to its services."""

import pytest
from django.test import Client

from projects.models import Project, User


def test_it_asks_strangers_to_sign_in(client: Client, db: None) -> None:
    assert client.get("/").headers["Location"] == "/account/login/?next=/"


def test_it_leads_to_ones_first_project(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    assert client.get("/").headers["Location"] == "/p/acme-shop/services"


def test_it_leads_to_a_new_project_where_there_is_none(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert client.get("/").headers["Location"] == "/projects/new"


@pytest.mark.parametrize("address", ["/p/acme-shop", "/p/acme-shop/"])
def test_a_projects_address_alone_leads_to_its_services(
    client: Client, alice: User, project: Project, address: str
) -> None:
    client.force_login(alice)
    assert client.get(address).headers["Location"] == "/p/acme-shop/services"


def test_anothers_project_leads_nowhere(client: Client, charlie: User, project: Project) -> None:
    client.force_login(charlie)
    assert client.get("/p/acme-shop").status_code == 404
