"""Attacks on accounts: fixed sessions, enumeration, redirects, foreign hosts, added fields."""

from typing import Any
from unittest.mock import patch
from urllib.parse import urljoin, urlsplit

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.hashers import get_hasher
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from projects.credentials import access_tokens
from projects.models import Member, Project, Role, TokenScope, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db

PASSWORD = "a sentence works well"
SIGN_IN = "/account/login/"
HOSTILE = [
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "\\\\evil.example/",
    "https:evil.example",
    "javascript:alert(1)",
    "/%09/evil.example/",
    "\t//evil.example/",
]


@pytest.fixture
def with_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def mara(project: Project) -> User:
    user = User.objects.create_user("mara@example.org", PASSWORD)
    Member.objects.create(project=project, user=user, role=Role.OWNER)
    return user


def sign_in(client: Client, email: str, password: str = PASSWORD, **more: str) -> Any:
    return client.post(SIGN_IN, {"login": email, "password": password} | more)


def test_session_of_before_the_sign_in_is_worthless(client: Client, mara: User) -> None:
    client.get("/invitations/no-such-token")
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies["sessionid"] = session.session_key or ""
    fixed = client.cookies["sessionid"].value
    sign_in(client, mara.email)
    assert client.cookies["sessionid"].value != fixed
    attacker = Client()
    attacker.cookies["sessionid"] = fixed
    assert attacker.get("/account/").status_code == 302
    assert client.get("/account/").status_code == 200


def test_chosen_session_key_is_not_taken(client: Client, mara: User) -> None:
    client.cookies["sessionid"] = "a" * 32
    sign_in(client, mara.email)
    assert client.cookies["sessionid"].value != "a" * 32


@pytest.mark.parametrize("target", HOSTILE)
def test_sign_in_leads_to_no_other_site(client: Client, mara: User, target: str) -> None:
    location = sign_in(client, mara.email, next=target).headers["Location"]
    assert leads_here(location)


@pytest.mark.parametrize("target", HOSTILE)
@pytest.mark.parametrize("path", ["account_logout", "language", "account_change_password"])
def test_signed_in_pages_lead_to_no_other_site(
    client: Client, mara: User, path: str, target: str
) -> None:
    client.force_login(mara)
    form = {
        "next": target,
        "language": "en",
        "oldpassword": PASSWORD,
        "password1": PASSWORD + "!",
        "password2": PASSWORD + "!",
    }
    response = client.post(reverse(path), form, query_params={"next": target})
    assert response.status_code == 302
    assert leads_here(response.headers["Location"])


def test_wrong_password_and_unknown_account_look_alike(client: Client, mara: User) -> None:
    texts = []
    for email in (mara.email, "nobody@example.org"):
        page = render_html(sign_in(client, email, "another sentence"))
        texts.append(page.replace(email, "E-MAIL"))
    assert strip_tokens(texts[0]) == strip_tokens(texts[1])


def test_unknown_account_costs_a_password_hash_too(client: Client, mara: User) -> None:
    hasher = type(get_hasher())
    counts = []
    for email in (mara.email, "nobody@example.org"):
        with patch.object(hasher, "encode", autospec=True, side_effect=hasher.encode) as encode:
            sign_in(client, email, "another sentence")
        counts.append(encode.call_count)
    assert counts[0] == counts[1] > 0


@pytest.mark.usefixtures("with_mail")
def test_reset_tells_nobody_which_accounts_exist(client: Client, mara: User) -> None:
    responses = [
        client.post("/account/password/reset/", {"email": email})
        for email in (mara.email, "nobody@example.org")
    ]
    assert {response.status_code for response in responses} == {302}
    assert len({response.headers["Location"] for response in responses}) == 1


@pytest.mark.usefixtures("with_mail")
def test_sign_up_tells_nobody_which_accounts_exist(client: Client, mara: User) -> None:
    responses = [
        Client().post(
            "/account/signup/", {"email": email, "password1": PASSWORD, "project": "Acme Shop"}
        )
        for email in (mara.email, "nobody@example.org")
    ]
    assert len({response.status_code for response in responses}) == 1
    assert len({response.headers["Location"] for response in responses}) == 1


@pytest.mark.usefixtures("with_mail")
def test_link_in_a_reset_never_has_a_host_of_the_request(client: Client, mara: User) -> None:
    for headers in ({"host": "evil.example"}, {"x-forwarded-host": "evil.example"}):
        client.post("/account/password/reset/", {"email": mara.email}, headers=headers)
    assert "evil.example" not in "".join(str(message.body) for message in mail.outbox)
    assert len(mail.outbox) == 1  # the foreign host is rejected


@pytest.mark.usefixtures("with_mail")
def test_reset_password_does_not_replace_the_second_factor(client: Client, mara: User) -> None:
    TOTP.activate(mara, "JBSWY3DPEHPK3PXP")
    client.post("/account/password/reset/", {"email": mara.email})
    link = next(word for word in str(mail.outbox[0].body).split() if "/reset/key/" in word)
    page = client.get(link.replace("http://testserver", ""), follow=True)
    form = {"password1": "another good sentence", "password2": "another good sentence"}
    client.post(page.redirect_chain[-1][0], form)
    mara.refresh_from_db()
    assert mara.check_password("another good sentence")
    assert client.get("/account/").status_code == 302
    sign_in(client, mara.email, "another good sentence")
    assert client.get("/account/").status_code == 302


def test_sign_up_takes_no_rights_from_the_form(client: Client, db: None) -> None:
    form = {"email": "eve@example.org", "password1": PASSWORD, "project": "Eve's"}
    rights = {"is_staff": "on", "is_superuser": "on", "max_projects": "999", "id": "1"}
    client.post("/account/signup/", form | rights)
    eve = User.objects.get(email="eve@example.org")
    assert (eve.is_staff, eve.is_superuser, eve.max_projects) == (False, False, None)


def test_settings_take_no_other_fields(client: Client, mara: User, project: Project) -> None:
    client.force_login(mara)
    before: dict[str, Any] = dict(Project.objects.values().get(pk=project.pk))
    form = {"name": "Renamed", "rate": "0.5"}
    more = {"project_id": "other", "plan": "1", "suspended": "", "deletion_due": "2026-01-01"}
    client.post(f"/p/{project.project_id}/settings", form | more)
    after: dict[str, Any] = dict(Project.objects.values().get(pk=project.pk))
    changed = {name for name, value in after.items() if value != before[name]}
    assert "name" in changed
    assert not changed & {"project_id", "plan_id", "suspended", "deletion_due", "created"}


def test_account_page_takes_no_other_fields(client: Client, mara: User) -> None:
    client.force_login(mara)
    client.post("/account/", {"name": "Mara", "email": "x@example.org", "is_superuser": "on"})
    mara.refresh_from_db()
    assert (mara.email, mara.is_superuser) == ("mara@example.org", False)


def test_token_of_another_account_is_not_found(client: Client, mara: User, bob: User) -> None:
    row, _text = access_tokens.create(bob, "ci", [TokenScope.READ], 30)
    client.force_login(mara)
    absent = client.post("/account/tokens/0123456789/revoke")
    foreign = client.post(f"/account/tokens/{row.token_id}/revoke")
    assert (absent.status_code, foreign.status_code) == (404, 404)
    assert strip_tokens(render_html(absent)) == strip_tokens(render_html(foreign))
    row.refresh_from_db()
    assert row.revoked is None


def leads_here(location: str) -> bool:
    """Return True if a browser stays on this site, which reads backslashes as slashes and skips
    tabs.
    """
    read = location.replace("\\", "/").replace("\t", "")
    return urlsplit(urljoin("http://testserver/account/", read)).netloc == "testserver"


def strip_tokens(page: str) -> str:
    """Return a page without its CSRF tokens and the ids of its address."""
    return "".join(word for word in page.split('"') if len(word) not in {64, 10})
