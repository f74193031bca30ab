"""Audit entries of sign-up, sign-in, sign-out and passwords; failed sign-ins are bounded."""

import io

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from profiler_site.cli.main import main
from projects.models import AuditEntry, Project, User

pytestmark = pytest.mark.django_db
PASSWORD = "a sentence works well"
WRONG = "another sentence"


def sign_in(email: str, password: str, address: str = "192.0.2.7") -> int:
    client = Client(REMOTE_ADDR=address)
    form = {"login": email, "password": password}
    return client.post("/account/login/", form).status_code


def entries(action: str) -> list[AuditEntry]:
    return [*AuditEntry.objects.filter(action=action).order_by("pk")]


def test_sign_up_records_account_and_project_with_the_address(db: None) -> None:
    form = {"email": "mara@acme.example", "password1": PASSWORD, "project": "Acme Shop"}
    Client(REMOTE_ADDR="192.0.2.7").post("/account/signup/", form)
    rows = AuditEntry.objects.order_by("pk").values_list("action", "address", "subject")
    assert [*rows] == [
        ("project.create", "192.0.2.7", "acme-shop"),
        ("account.sign_up", "192.0.2.7", "mara@acme.example"),
        ("account.sign_in", "192.0.2.7", "mara@acme.example"),
    ]


def test_sign_in_and_out_are_recorded_in_the_projects_of_the_account(
    project: Project, alice: User
) -> None:
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.post("/account/login/", {"login": alice.email, "password": PASSWORD})
    client.post("/account/logout/")
    for action in ("account.sign_in", "account.sign_out"):
        (entry,) = entries(action)
        assert (entry.project, entry.actor, entry.actor_kind) == (project, alice, "person")
        assert entry.address == "192.0.2.7"


def test_failed_sign_in_names_the_account_but_no_person(project: Project, alice: User) -> None:
    sign_in("Alice@example.org", WRONG)
    (entry,) = entries("account.sign_in_failed")
    assert (entry.project, entry.actor_kind, entry.target) == (project, "visitor", alice.email)
    assert entry.detail == {"reason": "wrong password"}
    assert not entries("account.sign_in")


def test_failed_sign_in_without_an_account_stores_nothing_that_was_typed(db: None) -> None:
    typed = "my.secret.password@example.org"
    sign_in(typed, WRONG)
    (entry,) = entries("account.sign_in_failed")
    assert entry.project is None
    stored = str(AuditEntry.objects.filter(pk=entry.pk).values().get())
    assert "secret" not in stored
    assert WRONG not in stored


def test_attempt_after_too_many_is_recorded_with_its_reason(project: Project, alice: User) -> None:
    for _ in range(6):
        sign_in(alice.email, WRONG)
    reasons = [entry.detail["reason"] for entry in entries("account.sign_in_failed")]
    assert reasons == ["wrong password"] * 5 + ["too many attempts"]


def test_flood_of_failures_of_one_account_stores_ten_an_hour(project: Project, alice: User) -> None:
    for number in range(30):
        sign_in(alice.email, WRONG, f"192.0.2.{number}")
    assert len(entries("account.sign_in_failed")) == 10


@pytest.mark.parametrize(
    ("limit", "exists"), [("failures_of_others", False), ("failures_of_accounts", True)]
)
def test_flood_of_failures_of_many_addresses_is_bounded(
    limit: str, exists: bool, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {limit: "3/h/key"}
    addresses = [f"person{number}@example.org" for number in range(8)]
    if exists:
        hashed = make_password(PASSWORD)
        User.objects.bulk_create(User(email=each, password=hashed) for each in addresses)
    for number, email in enumerate(addresses):
        sign_in(email, WRONG, f"192.0.2.{number}")
    assert len(entries("account.sign_in_failed")) == 3


def test_password_change_is_recorded_without_the_password(project: Project, alice: User) -> None:
    client = Client()
    client.force_login(alice)
    new = "a longer sentence, new"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert client.post("/account/password/change/", form).status_code == 302
    alice.refresh_from_db()
    assert alice.check_password(new)
    (entry,) = entries("account.password_change")
    assert (entry.project, entry.actor) == (project, alice)
    assert entry.detail == {}


def test_password_that_the_operator_sets_is_recorded_as_theirs(
    project: Project, alice: User, admin_client: Client
) -> None:
    new = "a longer sentence, new"
    url = reverse("admin:auth_user_password_change", args=[alice.pk])
    form = {"usable_password": "true", "password1": new, "password2": new}
    assert admin_client.post(url, form).status_code == 302
    (entry,) = entries("account.password_change")
    assert (entry.project, entry.actor_kind, entry.target) == (project, "operator", alice.email)


def test_accounts_of_the_command_line_are_recorded(
    monkeypatch: pytest.MonkeyPatch, project: Project, alice: User
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a longer sentence, new\n"))
    assert main(["user", "password", alice.email, "--password-stdin"]) == 0
    (entry,) = entries("account.password_change")
    assert (entry.actor_kind, entry.actor, entry.address) == ("operator", None, "")
