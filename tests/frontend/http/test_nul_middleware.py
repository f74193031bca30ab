"""NUL in paths, query strings and forms of pages."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from projects.models import Project, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path",
    [
        "/p/acme%00shop/services",
        "/agents/python/flamewatch_agent-%00.whl",
        "/agents/python/simple/a%00/",
        "/account/confirm-email/a%00/",
        "/admin/projects/user/1%00/change/",
        "/no%00where",
        "/p/acme-shop/services?search=a%00b",
        "/account/login/?next=%00",
        "/admin/projects/user/?q=a%00",
        "/projects/new/id?na%00me=a",
    ],
)
@pytest.mark.parametrize("is_operator", [True, False])
def test_a_page_with_nul_in_its_address_is_400(
    client: Client, alice: User, project: Project, path: str, is_operator: bool
) -> None:
    if is_operator:
        User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
        client.force_login(alice)
    response = client.get(path)
    assert response.status_code == 400
    assert "the character NUL is not allowed" in render_html(response)
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("path", "form", "field"),
    [
        ("/account/login/", {"login": "alice@example.org\0", "password": "x"}, "login"),
        ("/account/login/", {"login": "alice@example.org", "password": "x\0"}, "password"),
        ("/account/signup/", {"email": "a@example.org", "project": "a\0"}, "project"),
        ("/projects/new", {"name": "Shop\0"}, "name"),
        ("/p/acme-shop/settings", {"name": "a\0", "rate": "1.0"}, "name"),
        ("/p/acme-shop/settings/keys", {"name": "a\0", "scope": "write"}, "name"),
        ("/p/acme-shop/capture", {"service": "a\0", "type": "CPU"}, "service"),
        ("/account/language", {"language": "e\0s"}, "language"),
        ("/projects/new", {"na\0me": "Shop"}, "na�me"),
    ],
)
def test_a_form_with_nul_is_400(
    client: Client, alice: User, project: Project, path: str, form: dict[str, str], field: str
) -> None:
    client.force_login(alice)
    urlencoded = "application/x-www-form-urlencoded"
    response = client.post(path, urlencode(form), content_type=urlencoded)
    assert response.status_code == 400
    assert f"{field}: the character NUL is not allowed." in render_html(response)
    assert Project.objects.count() == 1


def test_a_multipart_form_with_nul_is_400(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.post("/projects/new", {"name": "Shop\0"}).status_code == 400
    assert client.post("/projects/new", {"name": "Shop"}).status_code == 302
