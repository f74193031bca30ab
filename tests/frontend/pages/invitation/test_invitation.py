"""`/invitations/<token>`: joining with an account, after signing in and after signing up."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from projects import invitations
from projects.credentials import invitation_tokens
from projects.models import Invitation, Member, Project, Role, User

pytestmark = pytest.mark.django_db
ADDRESS = "lena@acme.example"
PASSWORD = "a sentence works well"


@pytest.fixture
def with_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def link(project: Project, alice: User) -> str:
    return path_of(invitations.create(project, [], Role.MEMBER, actor=alice)[0])


@pytest.fixture
def mailed(project: Project, alice: User, with_mail: None) -> str:
    return path_of(invitations.create(project, [ADDRESS], Role.MEMBER, actor=alice)[0])


def path_of(row: Invitation) -> str:
    return f"/invitations/{invitation_tokens.make(row)}"


def test_signed_in_account_joins_by_one_click(
    client: Client, link: str, charlie: User, project: Project
) -> None:
    client.force_login(charlie)
    page = client.get(link).content.decode()
    assert "Join Acme Shop" in page
    assert "Your role will be member." in page
    assert not Member.objects.filter(user=charlie).exists()  # programs that check links use GET
    response = client.post(link)
    assert response.headers["Location"] == "/p/acme-shop/services"
    assert Member.objects.get(user=charlie).role == Role.MEMBER


def test_signing_in_leads_back_to_the_invitation(client: Client, link: str, charlie: User) -> None:
    assert "Sign in" in client.get(link).content.decode()
    form = {"login": charlie.email, "password": PASSWORD}
    response = client.post("/account/login/", form)
    assert response.headers["Location"] == link
    client.post(link)
    client.logout()
    assert client.post("/account/login/", form).headers["Location"] == "/"


@pytest.mark.parametrize("signup", ["open", "invited"])
def test_new_account_joins_without_a_project_of_its_own(
    client: Client, link: str, project: Project, settings: Settings, signup: str
) -> None:
    settings.SIGNUP = signup
    client.get(link)
    page = client.get("/account/signup/").content.decode()
    assert "You join Acme Shop afterwards." in page
    assert 'name="project"' not in page
    response = client.post("/account/signup/", {"email": ADDRESS, "password1": PASSWORD})
    assert response.headers["Location"] == link
    client.post(link)
    assert Member.objects.get(user__email=ADDRESS).project == project
    assert Project.objects.count() == 1


def test_session_has_no_token(client: Client, link: str) -> None:
    client.get(link)
    assert link.rpartition("/")[2] not in str(dict(client.session))
    assert "invitation" in client.session


def test_signing_up_is_closed_without_a_pending_invitation(
    client: Client, link: str, settings: Settings
) -> None:
    settings.SIGNUP = "invited"
    form = {"email": ADDRESS, "password1": PASSWORD}
    client.post("/account/signup/", form)
    client.get("/invitations/no-such-token")
    client.post("/account/signup/", form)
    client.get(link)
    Invitation.objects.update(revoked=timezone.now())
    client.post("/account/signup/", form)
    assert not User.objects.filter(email=ADDRESS).exists()
    settings.SIGNUP = "closed"
    Invitation.objects.update(revoked=None)
    assert "Create account" not in client.get(link).content.decode()
    client.post("/account/signup/", form)
    assert not User.objects.filter(email=ADDRESS).exists()


def test_mailed_invitation_verifies_its_address(
    client: Client, mailed: str, project: Project
) -> None:
    client.get(mailed)
    form = {"email": "another@acme.example", "password1": PASSWORD}
    response = client.post("/account/signup/", form)
    assert response.headers["Location"] == mailed
    address = EmailAddress.objects.get()
    assert (address.email, address.verified) == (ADDRESS, True)
    assert mail.outbox == []  # no second message to verify it
    assert client.post(mailed).headers["Location"] == "/p/acme-shop/services"
    assert Member.objects.get(user__email=ADDRESS).role == Role.MEMBER


def test_link_verifies_no_address(client: Client, link: str, with_mail: None) -> None:
    client.get(link)
    response = client.post("/account/signup/", {"email": ADDRESS, "password1": PASSWORD})
    assert response.headers["Location"] == "/account/confirm-email/"
    assert not EmailAddress.objects.get().verified
    assert client.post(link).status_code == 200  # still the page for strangers
    assert not Member.objects.filter(user__email=ADDRESS).exists()


def test_mailed_invitation_of_another_address_is_403(
    client: Client, mailed: str, charlie: User
) -> None:
    EmailAddress.objects.create(user=charlie, email=charlie.email, verified=True, primary=True)
    client.force_login(charlie)
    for response in (client.get(mailed), client.post(mailed)):
        page = response.content.decode()
        assert response.status_code == 403
        assert "This invitation is for another account" in page
        assert ADDRESS not in page
        assert "Acme Shop" not in page
    assert not Member.objects.filter(user=charlie).exists()


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"expires": timezone.now()}, 410, "This invitation has expired"),
        ({"revoked": timezone.now()}, 410, "This invitation was revoked"),
        ({"used": timezone.now()}, 410, "This invitation was already used"),
        ({"token_hash": "x"}, 404, "This invitation link is not valid"),
    ],
)
@pytest.mark.parametrize("signed_in", [True, False])
def test_links_that_do_not_work_say_why_and_not_of_which_project(
    client: Client,
    link: str,
    charlie: User,
    change: dict[str, object],
    status: int,
    sentence: str,
    signed_in: bool,
) -> None:
    Invitation.objects.update(**change)
    if signed_in:
        client.force_login(charlie)
    for response in (client.get(link), client.post(link)):
        page = response.content.decode()
        assert response.status_code == status
        assert sentence in page
        assert not re.search("Acme Shop|alice", page)
    assert not Member.objects.filter(user=charlie).exists()


def test_member_is_sent_to_the_project_and_the_link_stays(
    client: Client, link: str, alice: User
) -> None:
    client.force_login(alice)
    for response in (client.get(link), client.post(link)):
        assert response.headers["Location"] == "/p/acme-shop/services"
    assert Member.objects.get(user=alice).role == Role.OWNER
    assert Invitation.objects.get().used is None


@pytest.mark.parametrize("name", ["next", "redirect", "url"])
def test_joining_redirects_to_no_other_site(
    client: Client, link: str, charlie: User, name: str
) -> None:
    client.force_login(charlie)
    response = client.post(f"{link}?{name}=https://evil.example", {name: "https://evil.example"})
    assert response.headers["Location"] == "/p/acme-shop/services"


def test_posted_role_and_project_are_ignored(
    client: Client, link: str, charlie: User, other_project: Project
) -> None:
    client.force_login(charlie)
    client.post(link, {"role": "owner", "project": other_project.pk, "user": "1"})
    assert Member.objects.get(user=charlie, project__project_id="acme-shop").role == Role.MEMBER


def test_joining_needs_a_csrf_token(link: str, charlie: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(charlie)
    assert client.post(link).status_code == 403
    assert not Member.objects.filter(user=charlie).exists()


def test_full_project_is_explained(
    client: Client, link: str, charlie: User, settings: Settings
) -> None:
    settings.MAX_MEMBERS_PER_PROJECT = 1
    client.force_login(charlie)
    response = client.post(link)
    assert response.status_code == 409
    assert "the limit is 1" in response.content.decode()


def test_attempts_of_an_account_are_limited(
    client: Client, link: str, charlie: User, settings: Settings
) -> None:
    settings.MAX_MEMBERS_PER_PROJECT = 1
    client.force_login(charlie)
    statuses = [client.post(link).status_code for _ in range(21)]
    assert statuses == [409] * 20 + [429]


def test_page_is_not_cached_and_has_no_referrer_for_others(client: Client, link: str) -> None:
    response = client.get(link)
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["Referrer-Policy"] == "same-origin"
