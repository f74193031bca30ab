"""Sign-up, with and without a mail server."""

import os
import re
import subprocess
import sys

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from projects import invitations
from projects.accounts import signup
from projects.audit import Origin
from projects.credentials import invitation_tokens
from projects.models import AccessToken, AuditEntry, Project, Role, User

pytestmark = pytest.mark.django_db
FORM = {
    "email": "mara@acme.example",
    "password1": "a sentence works well",
    "project": "Acme Shop",
}


@pytest.fixture
def with_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def test_account_is_rolled_back_if_its_project_cannot_be_created(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str, owner: User, *, origin: Origin) -> Project:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(signup, "create_project", fail)
    with pytest.raises(RuntimeError):
        client.post("/account/signup/", FORM)
    assert not User.objects.exists()


def test_audit_log_records_who_created_the_project(client: Client) -> None:
    client.post("/account/signup/", FORM)
    entry = AuditEntry.objects.get(action="project.create")
    assert str(entry.actor) == "mara@acme.example"


def test_an_address_is_an_account_once_however_it_is_written(client: Client, alice: User) -> None:
    page = client.post("/account/signup/", FORM | {"email": "Alice@Example.org"})
    assert User.objects.count() == 1
    assert page.status_code == 200
    assert "already" in page.content.decode()


def test_sign_ups_over_the_limit_of_an_address_get_429(client: Client) -> None:
    statuses = [client.post("/account/signup/", {}).status_code for _ in range(21)]
    assert statuses[:20] == [200] * 20
    assert statuses[20] == 429


def sign_up(number: int, address: str = "192.0.2.1") -> int:
    """Create an account from an address; return the status of the response."""
    form = FORM | {"email": f"person{number}@acme.example"}
    return Client(REMOTE_ADDR=address).post("/account/signup/", form).status_code


@pytest.mark.parametrize(
    ("action", "rate", "setting"),
    [
        ("signups_per_hour", "2/h/ip", "FLAMEWATCH_SIGNUPS_PER_HOUR"),
        ("signups_per_day", "2/d/ip", "FLAMEWATCH_SIGNUPS_PER_DAY"),
    ],
)
def test_an_address_creates_no_more_accounts_than_the_limit(
    action: str, rate: str, setting: str, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {action: rate}
    assert [sign_up(number) for number in range(2)] == [302, 302]
    third = Client(REMOTE_ADDR="192.0.2.1").post("/account/signup/", FORM)
    assert third.status_code == 429
    assert setting in third.content.decode()
    assert "ask the operator" in third.content.decode()
    assert User.objects.count() == 2
    assert sign_up(3, address="192.0.2.2") == 302


def test_the_limits_of_new_accounts_are_the_settings(settings: Settings) -> None:
    limits = settings.ACCOUNT_RATE_LIMITS
    assert limits["signups_per_hour"] == f"{settings.SIGNUPS_PER_HOUR}/h/ip"
    assert limits["signups_per_day"] == f"{settings.SIGNUPS_PER_DAY}/d/ip"


def test_mistakes_in_the_form_do_not_count_as_accounts(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"signups_per_hour": "1/h/ip"}
    client = Client(REMOTE_ADDR="192.0.2.1")
    for _ in range(3):
        assert client.post("/account/signup/", FORM | {"password1": "short"}).status_code == 200
    assert sign_up(1) == 302


def test_login_is_rejected_after_5_wrong_passwords(client: Client, alice: User) -> None:
    wrong = {"login": "alice@example.org", "password": "another sentence"}
    for _ in range(5):
        client.post("/account/login/", wrong)
    right = wrong | {"password": "a sentence works well"}
    page = client.post("/account/login/", right)
    assert page.status_code == 200
    assert "Too many failed login attempts" in page.content.decode()


@pytest.mark.usefixtures("with_mail")
def test_with_mail_an_address_is_confirmed_first(client: Client) -> None:
    response = client.post("/account/signup/", FORM)
    assert response.headers["Location"] == "/account/confirm-email/"
    (sent,) = mail.outbox
    assert sent.subject.startswith("[Flamewatch] ")
    link = re.search(r"http://testserver(/account/confirm-email/\S+)", str(sent.body))
    assert link is not None
    assert client.get("/p/acme-shop/setup").status_code == 302
    client.post(link[1])
    client.post("/account/login/", {"login": FORM["email"], "password": FORM["password1"]})
    assert client.get("/p/acme-shop/setup").status_code == 200


@pytest.mark.usefixtures("with_mail")
def test_with_mail_a_password_can_be_reset(client: Client, alice: User) -> None:
    client.post("/account/password/reset/", {"email": "alice@example.org"})
    (sent,) = mail.outbox
    link = re.search(r"http://testserver(/account/password/reset/key/\S+)", str(sent.body))
    assert link is not None
    page = client.get(link[1], follow=True)
    new = {"password1": "another sentence, longer", "password2": "another sentence, longer"}
    client.post(page.redirect_chain[-1][0], new)
    alice.refresh_from_db()
    assert alice.check_password("another sentence, longer")


@pytest.mark.parametrize("method", ["get", "post"])
def test_password_reset_without_mail_names_the_command(
    client: Client, alice: User, method: str
) -> None:
    ask = getattr(client, method)
    page = ask("/account/password/reset/", {"email": "alice@example.org"}).content.decode()
    assert "flamewatch user password" in page
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("email", "created"),
    [
        ("mara@acme.example", True),
        ("mara@ACME.example", True),
        ("mara@sub.acme.example", False),
        ("mara@notacme.example", False),
        ("mara@acme.example.org", False),
    ],
)
@pytest.mark.usefixtures("with_mail")
def test_domains_restrict_sign_up(
    client: Client, settings: Settings, email: str, created: bool
) -> None:
    settings.SIGNUP_DOMAINS = ("acme.example",)
    page = client.post("/account/signup/", FORM | {"email": email})
    assert User.objects.exists() == created
    if not created:
        assert "open to addresses of acme.example" in page.content.decode()


def test_domains_without_a_mail_server_create_no_account_by_password(
    client: Client, settings: Settings
) -> None:
    settings.SIGNUP_DOMAINS = ("acme.example",)
    page = client.post("/account/signup/", FORM).content.decode()
    assert "cannot verify your address" in page
    assert not User.objects.exists()


@pytest.mark.usefixtures("with_mail")
def test_invited_people_of_other_domains_sign_up(
    client: Client, settings: Settings, project: Project, alice: User
) -> None:
    settings.SIGNUP_DOMAINS = ("example.org",)
    (row,) = invitations.create(project, ["mara@acme.example"], Role.MEMBER, actor=alice)
    client.get(reverse("invitation", args=[invitation_tokens.make(row)]))
    client.post("/account/signup/", FORM)
    assert User.objects.filter(email="mara@acme.example").exists()


@pytest.fixture
def with_open_mail(settings: Settings) -> None:
    """Send e-mails, with sign-up open to any address."""
    settings.SENDS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"


@pytest.mark.usefixtures("with_open_mail")
def test_address_is_verified_after_the_first_project(client: Client) -> None:
    response = client.post("/account/signup/", FORM)
    assert response.headers["Location"] == "/p/acme-shop/setup"
    assert client.get("/p/acme-shop/setup").status_code == 200
    assert not EmailAddress.objects.get().verified
    link = re.search(r"/account/confirm-email/\S+", str(mail.outbox[0].body))
    assert link is not None
    client.post(link[0])
    assert EmailAddress.objects.get().verified
    assert client.get("/p/acme-shop/setup").status_code == 200


@pytest.mark.usefixtures("with_open_mail")
def test_unverified_address_gets_no_lasting_access(client: Client) -> None:
    """Check that a stranger who signed up with an address keeps nothing after its owner's reset."""
    client.post("/account/signup/", FORM)
    form = {"name": "ci", "scopes": ["read"], "days": "30"}
    page = client.post("/account/tokens", form)
    assert page.status_code == 400
    assert "Verify your e-mail address first" in page.content.decode()
    assert not AccessToken.objects.exists()
    EmailAddress.objects.update(verified=True)
    assert client.post("/account/tokens", form).status_code == 200
    assert AccessToken.objects.count() == 1


@pytest.mark.usefixtures("with_open_mail")
def test_reset_of_the_owner_of_an_address_ends_the_sessions_of_a_stranger(client: Client) -> None:
    stranger = client
    stranger.post("/account/signup/", FORM)
    mail.outbox.clear()
    owner = Client()
    owner.post("/account/password/reset/", {"email": FORM["email"]})
    link = re.search(r"/account/password/reset/key/\S+", str(mail.outbox[0].body))
    assert link is not None
    page = owner.get(link[0], follow=True)
    passwords = {"password1": "another good sentence", "password2": "another good sentence"}
    owner.post(page.redirect_chain[-1][0], passwords)
    assert User.objects.get().check_password("another good sentence")
    assert stranger.get("/p/acme-shop/setup").status_code == 302


def test_mail_and_domains_decide_whether_an_address_is_verified_first() -> None:
    show = "from django.conf import settings; print(settings.ACCOUNT_EMAIL_VERIFICATION)"
    smtp = {"FLAMEWATCH_SMTP_URL": "smtp://127.0.0.1:25"}
    domains = {"FLAMEWATCH_SIGNUP_DOMAINS": "acme.example"}
    for variables, said in [({}, "none"), (smtp, "optional"), (smtp | domains, "mandatory")]:
        environment = os.environ | variables | {"DJANGO_SETTINGS_MODULE": "profiler_site.settings"}
        done = subprocess.run(
            [sys.executable, "-c", show],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == said
