"""Account page: name, sessions and deletion."""

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from frontend.pages.account.user_agents import describe
from projects.models import AuditEntry, Member, Project, Role, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db

PASSWORD = "a sentence works well"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def mara(project: Project) -> User:
    user = User.objects.create_user("mara@example.org", PASSWORD)
    Member.objects.create(project=project, user=user, role=Role.VIEWER)
    return user


def sign_in(user_agent: str = FIREFOX, password: str = PASSWORD) -> Client:
    client = Client(headers={"User-Agent": user_agent})
    form = {"login": "mara@example.org", "password": password}
    assert client.post(reverse("account_login"), form).status_code == 302
    return client


def enter_password_again(client: Client) -> None:
    assert client.post(reverse("account_reauthenticate"), {"password": PASSWORD}).status_code == 302


def test_name_is_changed(mara: User) -> None:
    client = sign_in()
    page = client.post(reverse("account"), {"name": "Mara Lindqvist"}, follow=True)
    assert 'value="Mara Lindqvist"' in render_html(page)
    mara.refresh_from_db()
    assert mara.get_full_name() == "Mara Lindqvist"


def test_too_long_name_changes_nothing(mara: User) -> None:
    assert sign_in().post(reverse("account"), {"name": "x" * 151}).status_code == 400
    mara.refresh_from_db()
    assert mara.get_full_name() == ""


def test_sessions_are_listed_with_browser_and_address(mara: User, alice: User) -> None:
    client = sign_in()
    sign_in("curl/8.5")
    html = render_html(client.get(reverse("account")))
    assert "Firefox, Linux" in html
    assert "<td>curl</td>" in html
    assert "127.0.0.1" in html
    assert html.count("this browser") == 1


def test_one_session_is_ended(mara: User) -> None:
    client, other = sign_in(), sign_in("curl/8.5")
    row = UserSession.objects.get(user_agent="curl/8.5")
    assert client.post(reverse("end_session", args=[row.pk])).status_code == 302
    assert client.get(reverse("account")).status_code == 200
    assert other.get(reverse("account")).status_code == 302
    assert AuditEntry.objects.get(action="account.sessions_end").detail == {"sessions": 1}


def test_all_other_sessions_are_ended(mara: User) -> None:
    client, others = sign_in(), [sign_in("curl/8.5"), sign_in("curl/9")]
    client.post(reverse("end_other_sessions"))
    assert client.get(reverse("account")).status_code == 200
    for other in others:
        assert other.get(reverse("account")).status_code == 302


def test_session_of_another_person_is_404(mara: User, client: Client, bob: User) -> None:
    victim = sign_in()
    client.force_login(bob)
    row = UserSession.objects.get(user=mara)
    assert client.post(reverse("end_session", args=[row.pk])).status_code == 404
    assert victim.get(reverse("account")).status_code == 200


def test_new_password_ends_other_sessions(mara: User) -> None:
    client, other = sign_in(), sign_in("curl/8.5")
    new = "another sentence works too"
    client.post(
        reverse("account_change_password"),
        {"oldpassword": PASSWORD, "password1": new, "password2": new},
    )
    assert client.get(reverse("account")).status_code == 200
    assert other.get(reverse("account")).status_code == 302


def test_account_is_deleted_with_its_memberships(mara: User, project: Project) -> None:
    client = sign_in()
    enter_password_again(client)
    assert "Delete the account" in render_html(client.get(reverse("delete_account")))
    response = client.post(reverse("delete_account"))
    assert response.headers["Location"] == reverse("account_login")
    assert not User.objects.filter(email="mara@example.org").exists()
    assert not Member.objects.filter(project=project, user=mara.pk).exists()
    assert client.get(reverse("account")).status_code == 302
    entry = AuditEntry.objects.get(action="user.delete")
    assert (entry.project, entry.actor_name) == (project, "mara@example.org")


def test_only_owner_of_a_project_cannot_be_deleted(mara: User, project: Project) -> None:
    Member.objects.filter(project=project).exclude(user=mara).delete()
    Member.objects.filter(project=project, user=mara).update(role=Role.OWNER)
    client = sign_in()
    enter_password_again(client)
    html = render_html(client.get(reverse("delete_account")))
    assert "You are the only owner" in html
    assert project.name in html
    assert client.post(reverse("delete_account")).status_code == 409
    assert User.objects.filter(pk=mara.pk).exists()


def test_deletion_asks_for_the_password_again(mara: User) -> None:
    client = sign_in()
    response = client.post(reverse("delete_account"))
    assert response.headers["Location"].startswith(reverse("account_reauthenticate"))
    assert User.objects.filter(pk=mara.pk).exists()


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (FIREFOX, "Firefox, Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) Version/18 Safari/605", "Safari, macOS"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537", "Chrome, Android"),
        ("", "Unknown browser"),
    ],
)
def test_user_agents_are_described(user_agent: str, words: str) -> None:
    assert describe(user_agent) == words
