"""Sign-up, sign-in and sign-out."""

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test import Client
from pytest_django import Settings

from projects.models import Member, Project, Role, User

FORM = {
    "email": "mara@acme.example",
    "password1": "a sentence works well",
    "project": "Acme Shop",
}


def test_sign_up_creates_account_and_project_and_redirects_to_the_setup(
    client: Client, db: None
) -> None:
    response = client.post("/account/signup/", FORM)
    assert response.headers["Location"] == "/p/acme-shop/setup"
    assert client.get("/p/acme-shop/setup").status_code == 200
    owner = Member.objects.get(project__project_id="acme-shop")
    assert (owner.user.email, owner.role) == ("mara@acme.example", Role.OWNER)


@pytest.mark.django_db(transaction=True)
def test_the_password_is_hashed_outside_of_the_transaction(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a hash, which takes long, blocks no other writer of SQLite."""
    in_transaction: list[bool] = []

    def encode(hasher: MD5PasswordHasher, password: str, salt: str) -> str:
        in_transaction.append(connection.in_atomic_block)
        return original(hasher, password, salt)

    original = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", encode)
    client.post("/account/signup/", FORM)
    assert in_transaction == [False]
    assert User.objects.get().check_password(FORM["password1"])


def test_a_short_password_is_counted(client: Client, db: None) -> None:
    page = client.post("/account/signup/", FORM | {"password1": "short"}).content.decode()
    assert (
        "This password has 5 characters; at least 12 are required. A sentence works well." in page
    )
    assert 'aria-invalid="true"' in page
    assert not User.objects.exists()
    assert not Project.objects.exists()


def test_form_keeps_its_values_after_an_error(client: Client, db: None) -> None:
    page = client.post("/account/signup/", FORM | {"password1": ""}).content.decode()
    assert 'value="mara@acme.example"' in page
    assert 'value="Acme Shop"' in page
    assert "placeholder" not in page


def test_closed_sign_up_creates_no_account(client: Client, db: None, settings: Settings) -> None:
    settings.SIGNUP = "closed"
    page = client.post("/account/signup/", FORM).content.decode()
    assert "Sign-up is closed" in page
    assert not User.objects.exists()
    assert "Create one" not in client.get("/account/login/").content.decode()


def test_sign_up_by_invitation_says_so(client: Client, db: None, settings: Settings) -> None:
    settings.SIGNUP = "invited"
    assert "Accounts are by invitation" in client.get("/account/signup/").content.decode()


def test_sign_in_redirects_to_the_root(client: Client, alice: User, project: Project) -> None:
    form = {"login": "alice@example.org", "password": "a sentence works well"}
    assert client.post("/account/login/", form).headers["Location"] == "/"


def test_sign_in_redirects_to_the_requested_page(
    client: Client, alice: User, project: Project
) -> None:
    login_url = client.get("/p/acme-shop/setup").headers["Location"]
    assert 'name="next" value="/p/acme-shop/setup"' in client.get(login_url).content.decode()


def test_wrong_password_or_unknown_account_shows_an_error(client: Client, alice: User) -> None:
    wrong = {"login": "alice@example.org", "password": "another sentence"}
    unknown = {"login": "nobody@example.org", "password": "another sentence"}
    pages = [client.post("/account/login/", form).content.decode() for form in (wrong, unknown)]
    assert all("note bad" in page for page in pages)


def test_the_password_can_be_changed(client: Client, alice: User) -> None:
    client.force_login(alice)
    new = "another sentence, longer"
    client.post(
        "/account/password/change/",
        {"oldpassword": "a sentence works well", "password1": new, "password2": new},
    )
    alice.refresh_from_db()
    assert alice.check_password(new)


def test_every_reachable_account_page_has_the_stylesheet_of_the_site(
    client: Client, alice: User
) -> None:
    for address in ("login", "signup", "password/reset", "password/reset/done", "inactive"):
        assert "flamewatch.css" in client.get(f"/account/{address}/").content.decode(), address
    client.force_login(alice)
    for address in ("logout", "password/change", "email", "reauthenticate"):
        page = client.get(f"/account/{address}/").content.decode()
        assert "flamewatch.css" in page, address
