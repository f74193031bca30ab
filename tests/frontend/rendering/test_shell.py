"""Frame of every page: bar, menus, and the content security policy."""

import re

from django.test import Client

from projects.models import Project, User
from projects.project_ids import create_project

SERVICES = "/p/acme-shop/services"


def test_the_bar_names_the_project_and_offers_the_others(
    client: Client, alice: User, project: Project
) -> None:
    create_project("Acme Warehouse", alice)
    client.force_login(alice)
    page = client.get(SERVICES).content.decode()
    assert 'href="/p/acme-shop/services?span=1d" data-carries="range" aria-current="true"' in page
    assert 'href="/p/acme-warehouse/services?span=1d"' in page
    assert '<a href="/projects/new">' in page


def test_bar_of_a_stranger_names_no_other_project(
    client: Client, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    page = client.get("/projects/new").content.decode()
    assert "Acme Shop" not in page


def test_signing_out_is_a_form_that_posts(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    page = client.get(SERVICES).content.decode()
    assert '<form method="post" action="/account/logout/">' in page
    client.post("/account/logout/")
    assert client.get(SERVICES).status_code == 302


def test_pages_have_no_script_or_style_inline(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    response = client.get(SERVICES)
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy + ";"
    assert "unsafe" not in policy
    page = response.content.decode()
    assert "<style" not in page
    assert not re.search(r"\sstyle=|\son[a-z]+=", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)


def test_htmx_sends_the_csrf_token(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)
    page = client.get(SERVICES).content.decode()
    assert re.search(r"<body hx-headers='\{\"X-CSRFToken\": \"\w{64}\"\}'>", page)
