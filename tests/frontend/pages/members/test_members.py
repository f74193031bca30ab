"""`/p/<project>/settings/members`: people, invitations, roles, and their forms."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from projects import invitations
from projects.models import Invitation, Member, Project, Role, User
from projects.permissions import role_table
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db
MEMBERS = "/p/acme-shop/settings/members"
INVITE = f"{MEMBERS}/invite"


@pytest.fixture
def owner(client: Client, alice: User, project: Project) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def admin(bob: User) -> Client:
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    client = Client()
    client.force_login(bob)
    return client


def pk_of(user: User) -> int:
    return Member.objects.get(user=user, project__project_id="acme-shop").pk


def test_members_are_listed_with_their_roles(owner: Client, bob: User) -> None:
    page = render_html(owner.get(MEMBERS))
    assert "2 people" in page
    assert "bob@example.org" in page
    assert "the only owner" in page
    assert f'action="{MEMBERS}/{pk_of(bob)}/role"' in page


@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_lower_roles_see_people_and_no_controls(client: Client, bob: User, role: Role) -> None:
    Member.objects.filter(user=bob).update(role=role)
    client.force_login(bob)
    page = render_html(client.get(MEMBERS))
    assert "alice@example.org" in page
    for absent in ("Invite people", "/role", "/remove", "/transfer", 'id="invitations"'):
        assert absent not in page
    assert f"{MEMBERS}/leave" in page


def test_role_table_of_the_page_is_that_of_the_code(owner: Client) -> None:
    page = render_html(owner.get(MEMBERS))
    for row in role_table():
        assert str(row.label) in page


def test_admin_is_offered_roles_up_to_admin_and_no_change_of_owners(
    admin: Client, alice: User, project: Project
) -> None:
    User.objects.create_user("second@example.org")
    Member.objects.create(
        project=project, user=User.objects.get(email="second@example.org"), role=Role.OWNER
    )
    page = render_html(admin.get(MEMBERS))
    assert '<option value="owner"' not in page
    assert f"{MEMBERS}/{pk_of(alice)}/" not in page
    assert '<option value="owner"' not in render_html(admin.get(INVITE))


@pytest.mark.parametrize("role", ["owner", "superuser", ""])
def test_posted_roles_cannot_exceed_those_offered(
    admin: Client, bob: User, charlie: User, project: Project, role: str
) -> None:
    target = Member.objects.create(project=project, user=charlie, role=Role.VIEWER)
    for pk in (target.pk, pk_of(bob)):
        admin.post(f"{MEMBERS}/{pk}/role", {"role": role})
    admin.post(INVITE, {"channel": "link", "role": role})
    assert Member.objects.get(pk=target.pk).role == Role.VIEWER
    assert Member.objects.get(user=bob).role == Role.ADMIN
    assert not Invitation.objects.exists()


def test_admin_gets_403_that_names_the_owner_for_changes_of_owners(
    admin: Client, alice: User
) -> None:
    for path, data in (("role", {"role": "viewer"}), ("remove", {}), ("transfer", {})):
        response = admin.post(f"{MEMBERS}/{pk_of(alice)}/{path}", data)
        assert response.status_code == 403
        assert "This needs the role owner." in response.content.decode()
    assert Member.objects.get(user=alice).role == Role.OWNER


def test_role_is_changed_and_said(owner: Client, bob: User) -> None:
    response = owner.post(f"{MEMBERS}/{pk_of(bob)}/role", {"role": "admin"}, follow=True)
    assert Member.objects.get(user=bob).role == Role.ADMIN
    assert "bob now has the role admin" in response.content.decode()


def test_only_owner_is_told_why_leaving_is_not_possible(owner: Client, alice: User) -> None:
    page = owner.get(f"{MEMBERS}/leave").content.decode()
    assert "Acme Shop would have no owner" in page
    assert "Leave project" not in page
    assert "would have no owner" in owner.post(f"{MEMBERS}/leave", follow=True).content.decode()
    assert Member.objects.filter(user=alice).exists()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("remove", "Remove bob from Acme Shop?"), ("transfer", "Transfer Acme Shop to bob?")],
)
def test_actions_ask_first_in_a_dialog_or_a_page(
    owner: Client, bob: User, path: str, sentence: str
) -> None:
    address = f"{MEMBERS}/{pk_of(bob)}/{path}"
    dialog = owner.get(address, headers={"HX-Request": "true"}).content.decode()
    assert sentence in dialog
    assert "<html" not in dialog
    assert sentence in owner.get(address).content.decode()
    assert Member.objects.get(user=bob).role == Role.MEMBER


def test_removed_member_loses_access_at_once(owner: Client, bob: User) -> None:
    theirs = Client()
    theirs.force_login(bob)
    assert theirs.get(MEMBERS).status_code == 200
    owner.post(f"{MEMBERS}/{pk_of(bob)}/remove")
    assert theirs.get(MEMBERS).status_code == 404


def test_ids_of_another_project_are_404(
    owner: Client, other_project: Project, charlie: User
) -> None:
    member = Member.objects.get(project=other_project)
    (row,) = invitations.create(other_project, [], Role.VIEWER, actor=charlie)
    for path in (
        *(f"{member.pk}/{each}" for each in ("role", "remove", "transfer")),
        *(f"invitations/{row.pk}/{each}" for each in ("resend", "revoke")),
    ):
        assert owner.post(f"{MEMBERS}/{path}", {"role": "viewer"}).status_code == 404
    row.refresh_from_db()
    assert row.revoked is None


def test_link_is_shown_once(owner: Client) -> None:
    page = render_html(owner.post(INVITE, {"channel": "link", "role": "viewer"}))
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/invitations/[\w-]{43})", page)
    assert "Whoever has this link can join as viewer" in page
    assert owner.get(path).status_code == 302  # alice is a member
    assert "/invitations/" not in owner.get(MEMBERS).content.decode().replace(
        f"{MEMBERS}/invitations/", ""
    )


def test_without_mail_each_address_gets_a_link(owner: Client) -> None:
    form = {"channel": "email", "emails": "A@b.example, c@d.example\na@b.example", "role": "member"}
    assert "This server sends no e-mail" in owner.get(INVITE).content.decode()
    page = render_html(owner.post(INVITE, form))
    assert len(re.findall(r"/invitations/[\w-]{43}", page)) == 2
    assert {row.email for row in Invitation.objects.all()} == {"a@b.example", "c@d.example"}


def test_with_mail_no_link_is_shown(owner: Client, settings: Settings) -> None:
    settings.SENDS_MAIL = True
    form = {"channel": "email", "emails": "a@b.example", "role": "member"}
    response = owner.post(INVITE, form)
    assert (response.status_code, response.headers["Location"]) == (302, MEMBERS)
    page = owner.get(MEMBERS).content.decode()
    assert "1 invitation is being sent" in page
    assert "E-mail queued" in page
    assert not re.search(r"/invitations/[\w-]{43}", page)


@pytest.mark.parametrize(
    ("emails", "sentence"),
    [
        ("", "Enter at least one e-mail address."),
        ("nobody", "“nobody” is not an e-mail address."),
        ("<b>x</b>@b.example", "is not an e-mail address."),
        (" ".join(f"p{n}@b.example" for n in range(21)), "21 addresses; the limit is 20"),
    ],
)
def test_mistakes_are_named_and_nobody_is_invited(
    owner: Client, emails: str, sentence: str
) -> None:
    response = owner.post(INVITE, {"channel": "email", "emails": emails, "role": "member"})
    assert response.status_code == 400
    page = render_html(response)
    assert sentence in page
    assert "<b>x</b>" not in page
    assert not Invitation.objects.exists()


def test_limit_of_invitations_is_shown_in_the_form(owner: Client, settings: Settings) -> None:
    settings.MAX_INVITATIONS_PER_PROJECT = 1
    owner.post(INVITE, {"channel": "link", "role": "viewer"})
    response = owner.post(INVITE, {"channel": "link", "role": "viewer"})
    assert response.status_code == 400
    assert "Open invitations of Acme Shop: 1; the limit is 1." in render_html(response)


def test_resending_shows_another_link_and_revoking_ends_it(owner: Client) -> None:
    owner.post(INVITE, {"channel": "link", "role": "viewer"})
    pk = Invitation.objects.get().pk
    page = owner.post(f"{MEMBERS}/invitations/{pk}/resend").content.decode()
    (path,) = re.findall(r"/invitations/[\w-]{43}", page)
    stranger = Client()
    assert stranger.get(path).status_code == 200
    assert "Revoke this link?" in owner.get(f"{MEMBERS}/invitations/{pk}/revoke").content.decode()
    owner.post(f"{MEMBERS}/invitations/{pk}/revoke")
    assert stranger.get(path).status_code == 410
    assert owner.post(f"{MEMBERS}/invitations/{pk}/resend").status_code == 404


def test_empty_state_says_what_to_do(owner: Client, settings: Settings) -> None:
    assert "create a link, and send it yourself" in owner.get(MEMBERS).content.decode()
    settings.SENDS_MAIL = True
    assert "Invite people by e-mail" in owner.get(MEMBERS).content.decode()


def test_page_takes_few_queries(
    owner: Client,
    project: Project,
    alice: User,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(30):
        user = User.objects.create_user(f"p{number}@example.org")
        Member.objects.create(project=project, user=user, role=Role.VIEWER)
    emails = [f"i{number}@example.org" for number in range(20)]
    invitations.create(project, emails, Role.VIEWER, actor=alice)
    with django_assert_max_num_queries(
        8
    ):  # two of them, for the quotas and the badge, once a minute
        owner.get(MEMBERS)
