"""Invitations: tokens, who may accept them, limits and e-mail."""

import re
from collections.abc import Callable
from datetime import timedelta
from smtplib import SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone, translation
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from profiler_site.celery import app
from projects import account_limits, invitation_mail, invitations, members, tasks
from projects.account_limits import LimitReached
from projects.credentials import invitation_tokens
from projects.credentials.keys import hash_secret
from projects.invitations import InvalidInvitation, InvitationRejected, Problem
from projects.models import AuditEntry, Invitation, MailState, Member, Project, Role, User
from projects.project_ids import create_project
from tests.projects.test_account_limits import Concurrent

pytestmark = pytest.mark.django_db
ADDRESS = "lena@acme.example"


@pytest.fixture
def with_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


@pytest.fixture(autouse=True)
def tasks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)


@pytest.fixture
def link(project: Project, alice: User) -> Invitation:
    return invitations.create(project, [], Role.MEMBER, actor=alice)[0]


@pytest.fixture
def mailed(project: Project, alice: User, with_mail: None) -> Invitation:
    return invitations.create(project, [ADDRESS], Role.MEMBER, actor=alice)[0]


def problem_of(token: str, user: User) -> Problem:
    with pytest.raises(InvitationRejected) as rejected:
        invitations.accept(token, user)
    return rejected.value.problem


def verify(user: User, email: str, *, verified: bool = True) -> None:
    EmailAddress.objects.create(user=user, email=email, verified=verified, primary=True)


def test_link_makes_one_account_member(
    link: Invitation, charlie: User, project: Project, bob: User
) -> None:
    token = invitation_tokens.make(link)
    member = invitations.accept(token, charlie)
    assert (member.project, member.role) == (project, Role.MEMBER)
    dora = User.objects.create_user("dora@example.org")
    assert problem_of(token, dora) is Problem.USED
    assert not Member.objects.filter(user=dora).exists()


def test_token_is_in_no_column(link: Invitation) -> None:
    token = invitation_tokens.make(link)
    row = Invitation.objects.values().get(pk=link.pk)
    assert token not in str(row)
    assert row["token_hash"] == hash_secret(token)
    assert token not in str(list(AuditEntry.objects.values()))
    assert re.fullmatch(r"[\w-]{43}", token)


@pytest.mark.parametrize("token", ["", "x", "x" * 10_000, "é" * 43, "\x00"])
def test_other_texts_are_no_tokens(link: Invitation, charlie: User, token: str) -> None:
    assert problem_of(token, charlie) is Problem.UNKNOWN


def test_expired_and_revoked_links_say_so(link: Invitation, charlie: User, alice: User) -> None:
    token = invitation_tokens.make(link)
    Invitation.objects.update(expires=timezone.now())
    assert problem_of(token, charlie) is Problem.EXPIRED
    invitations.revoke(link, actor=alice)
    assert problem_of(token, charlie) is Problem.REVOKED
    invitations.revoke(link, actor=alice)
    assert AuditEntry.objects.filter(action="invitation.revoke").count() == 1


def test_expiry_is_the_setting(project: Project, alice: User, settings: Settings) -> None:
    settings.INVITATION_DAYS = 2
    (row,) = invitations.create(project, [], Role.VIEWER, actor=alice)
    assert row.expires - row.issued == timedelta(days=2)


def test_resent_invitation_has_another_link_and_time(
    link: Invitation, charlie: User, alice: User
) -> None:
    old = invitation_tokens.make(link)
    Invitation.objects.update(expires=timezone.now())
    row = invitations.resend(link, actor=alice)
    assert problem_of(old, charlie) is Problem.UNKNOWN
    assert row.expires > timezone.now()
    invitations.accept(invitation_tokens.make(row), charlie)
    with pytest.raises(InvalidInvitation, match="already used or revoked"):
        invitations.resend(row, actor=alice)


def test_mailed_invitation_is_for_the_account_with_the_verified_address(
    mailed: Invitation, charlie: User
) -> None:
    token = invitation_tokens.make(mailed)
    assert problem_of(token, charlie) is Problem.OTHER_ADDRESS
    verify(charlie, "charlie@example.org")
    assert problem_of(token, charlie) is Problem.OTHER_ADDRESS
    lena = User.objects.create_user(ADDRESS)
    verify(lena, ADDRESS, verified=False)
    assert problem_of(token, lena) is Problem.OTHER_ADDRESS
    EmailAddress.objects.filter(user=lena).update(verified=True)
    assert invitations.accept(token, lena).user == lena


def test_invitation_of_an_address_without_mail_is_for_whoever_has_the_link(
    project: Project, alice: User, charlie: User
) -> None:
    (row,) = invitations.create(project, [ADDRESS], Role.VIEWER, actor=alice)
    assert invitations.accept(invitation_tokens.make(row), charlie).role == Role.VIEWER


def test_member_keeps_the_role_and_the_link(link: Invitation, alice: User, charlie: User) -> None:
    token = invitation_tokens.make(link)
    assert invitations.accept(token, alice).role == Role.OWNER
    assert invitations.accept(token, charlie).user == charlie


@pytest.mark.django_db(transaction=True)
def test_two_accounts_at_once_use_a_link_once(
    link: Invitation, charlie: User, project: Project
) -> None:
    dora = User.objects.create_user("dora@example.org")
    token = invitation_tokens.make(link)
    with transaction.atomic():
        invitations.accept(token, charlie)
        other = Concurrent(lambda: invitations.accept(token, dora))
        other.join(0.5)
    assert other.join()
    assert isinstance(other.error, InvitationRejected)
    assert other.error.problem is Problem.USED
    assert Member.objects.filter(project=project).count() == 2


def test_full_project_rejects_and_keeps_the_link(
    link: Invitation, charlie: User, settings: Settings
) -> None:
    settings.MAX_MEMBERS_PER_PROJECT = 1
    with pytest.raises(LimitReached, match="FLAMEWATCH_MAX_MEMBERS_PER_PROJECT"):
        invitations.accept(invitation_tokens.make(link), charlie)
    settings.MAX_MEMBERS_PER_PROJECT = 2
    invitations.accept(invitation_tokens.make(link), charlie)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_role_is_read_again_when_inviting(bob: User, project: Project, role: Role) -> None:
    """The route has checked a role that may have been taken since."""
    Member.objects.filter(user=bob).update(role=role)
    with pytest.raises(InvalidInvitation, match="Your role does not allow"):
        invitations.create(project, [], Role.VIEWER, actor=bob)


def test_nobody_is_invited_as_owner(alice: User, project: Project) -> None:
    with pytest.raises(InvalidInvitation):
        invitations.create(project, [], Role.OWNER, actor=alice)


def test_members_and_invited_addresses_are_rejected_by_name(
    project: Project, alice: User, bob: User
) -> None:
    invitations.create(project, [ADDRESS], Role.VIEWER, actor=alice)
    with pytest.raises(InvalidInvitation, match=f"Already invited: {ADDRESS}"):
        invitations.create(project, ["new@acme.example", ADDRESS], Role.VIEWER, actor=alice)
    with pytest.raises(InvalidInvitation, match=r"Already members: bob@example\.org"):
        invitations.create(project, ["bob@example.org"], Role.VIEWER, actor=alice)
    assert Invitation.objects.count() == 1


def test_open_invitations_of_a_project_are_bounded(
    project: Project, alice: User, settings: Settings
) -> None:
    settings.MAX_INVITATIONS_PER_PROJECT = 2
    rows = invitations.create(project, ["a@b.example", "c@d.example"], Role.VIEWER, actor=alice)
    with pytest.raises(LimitReached, match="FLAMEWATCH_MAX_INVITATIONS_PER_PROJECT"):
        invitations.create(project, [], Role.VIEWER, actor=alice)
    invitations.revoke(rows[0], actor=alice)
    invitations.create(project, [], Role.VIEWER, actor=alice)


def test_invitations_of_a_day_are_bounded_by_project_and_account(
    project: Project, alice: User, bob: User, settings: Settings
) -> None:
    settings.INVITATIONS_PER_DAY = 2
    Member.objects.filter(user=bob).update(role=Role.ADMIN)
    (row,) = invitations.create(project, [], Role.VIEWER, actor=alice)
    invitations.revoke(row, actor=alice)  # a new row does not start the count again
    (row,) = invitations.create(project, [], Role.VIEWER, actor=alice)
    for actor in (alice, bob):
        with pytest.raises(LimitReached, match="FLAMEWATCH_INVITATIONS_PER_DAY"):
            invitations.create(project, [], Role.VIEWER, actor=actor)
        with pytest.raises(LimitReached):
            invitations.resend(row, actor=actor)
    with pytest.raises(LimitReached):
        invitations.create(create_project("Second Shop", alice), [], Role.VIEWER, actor=alice)
    invitations.create(create_project("Bobs Shop", bob), [], Role.VIEWER, actor=bob)
    yesterday = timezone.now() - timedelta(days=1, minutes=1)
    QuerySet.update(AuditEntry.objects.all(), at=yesterday)  # entries have no update of their own
    invitations.resend(row, actor=bob)


def test_mailbox_is_not_flooded_from_many_projects(
    alice: User, with_mail: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_limits, "MAX_MAILS_PER_ADDRESS", 3)
    first = create_project("Shop 0", alice)
    (row,) = invitations.create(first, [ADDRESS], Role.VIEWER, actor=alice)
    invitations.resend(row, actor=alice)
    second = create_project("Shop 1", alice)
    invitations.create(second, [ADDRESS], Role.VIEWER, actor=alice)
    with pytest.raises(LimitReached, match=f"sent to {ADDRESS}"):
        invitations.create(create_project("Shop 2", alice), [ADDRESS], Role.VIEWER, actor=alice)
    with pytest.raises(LimitReached):
        invitations.resend(row, actor=alice)


def test_each_act_is_audited(link: Invitation, alice: User, charlie: User) -> None:
    row = invitations.resend(link, actor=alice)
    invitations.accept(invitation_tokens.make(row), charlie)
    entries = list(AuditEntry.objects.filter(action__startswith="invitation.").order_by("pk"))
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("invitation.create", alice),
        ("invitation.resend", alice),
        ("invitation.accept", charlie),
    ]
    assert entries[0].detail == {"invitation": link.pk, "role": "member"}


def test_mail_is_sent_after_the_commit_with_a_working_link(
    project: Project,
    alice: User,
    with_mail: None,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    settings: Settings,
) -> None:
    settings.FLAMEWATCH_URL = "https://flamewatch.acme.example"
    with django_capture_on_commit_callbacks(execute=True):
        (row,) = invitations.create(project, [ADDRESS], Role.ADMIN, actor=alice)
        assert mail.outbox == []
    (message,) = mail.outbox
    assert isinstance(message, EmailMultiAlternatives)
    assert (message.subject, message.to) == ("[Flamewatch] Invitation to Acme Shop", [ADDRESS])
    url = f"https://flamewatch.acme.example/invitations/{invitation_tokens.make(row)}"
    html, kind = message.alternatives[0][:2]
    assert kind == "text/html"
    for text in (str(message.body), str(html)):
        assert url in text
        assert "alice@example.org invites you" in text
        assert "Role: admin" in text
    assert Invitation.objects.get().mail_state == MailState.SENT


def test_without_mail_server_nothing_is_sent(
    project: Project,
    alice: User,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        invitations.create(project, [ADDRESS], Role.VIEWER, actor=alice)
    assert (callbacks, mail.outbox) == ([], [])


def test_names_cannot_inject_headers_or_markup(
    alice: User, with_mail: None, project: Project
) -> None:
    Project.objects.update(name="Shop\r\nBcc: all@example.org <b>x</b>")
    project.refresh_from_db()
    (row,) = invitations.create(project, [ADDRESS], Role.VIEWER, actor=alice)
    message = invitation_mail.render(row)
    assert "\n" not in message.subject
    assert message.message()["Bcc"] is None
    assert "<b>x</b>" not in str(message.alternatives[0][0])


def test_mail_has_the_language_of_whoever_invites(
    project: Project, alice: User, with_mail: None
) -> None:
    with translation.override("es"):
        (row,) = invitations.create(project, [ADDRESS], Role.VIEWER, actor=alice)
    assert '<html lang="es">' in str(invitation_mail.render(row).alternatives[0][0])


def test_mail_is_tried_again_and_then_marked(
    mailed: Invitation, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def fail(_message: EmailMultiAlternatives) -> None:
        attempts.append(1)
        raise SMTPServerDisconnected("closed")

    monkeypatch.setattr(EmailMultiAlternatives, "send", fail)
    tasks.send_invitation.apply((mailed.pk, mailed.nonce))
    assert len(attempts) == 1 + tasks.MAX_MAIL_RETRIES
    assert Invitation.objects.get().mail_state == MailState.FAILED


def test_rejected_address_is_not_tried_again(
    mailed: Invitation, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def reject(_message: EmailMultiAlternatives) -> None:
        attempts.append(1)
        raise SMTPRecipientsRefused({ADDRESS: (550, b"no such user")})

    monkeypatch.setattr(EmailMultiAlternatives, "send", reject)
    tasks.send_invitation.apply((mailed.pk, mailed.nonce))
    assert len(attempts) == 1
    assert Invitation.objects.get().mail_state == MailState.FAILED


@pytest.mark.parametrize("kind", ["revoked", "resent", "sent"])
def test_mail_of_an_ended_token_is_not_sent(mailed: Invitation, alice: User, kind: str) -> None:
    nonce = mailed.nonce
    if kind == "revoked":
        invitations.revoke(mailed, actor=alice)
    elif kind == "resent":
        invitations.resend(mailed, actor=alice)
    else:
        Invitation.objects.update(mail_state=MailState.SENT)
    tasks.send_invitation.apply((mailed.pk, nonce))
    assert mail.outbox == []


def test_mail_whose_task_was_lost_is_sent(mailed: Invitation) -> None:
    tasks.send_lost_invitations()
    assert mail.outbox == []  # its task may still run
    Invitation.objects.update(issued=timezone.now() - tasks.MAIL_LOST_AFTER - timedelta(minutes=1))
    tasks.send_lost_invitations()
    tasks.send_lost_invitations()
    assert len(mail.outbox) == 1


@pytest.mark.django_db(transaction=True)
def test_broker_outage_leaves_the_mail_queued(
    project: Project, alice: User, with_mail: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise ConnectionError("the broker is away")

    monkeypatch.setattr(tasks.send_invitation, "delay", fail)
    invitations.create(project, [ADDRESS], Role.VIEWER, actor=alice)
    assert Invitation.objects.get().mail_state == MailState.QUEUED


def test_closed_invitations_are_deleted_after_a_while(
    project: Project, alice: User, charlie: User
) -> None:
    make: Callable[[], Invitation] = lambda: invitations.create(  # noqa: E731
        project, [], Role.VIEWER, actor=alice
    )[0]
    pending, expired, revoked, used = make(), make(), make(), make()
    before = timezone.now() - tasks.INVITATION_RETENTION - timedelta(hours=1)
    Invitation.objects.filter(pk=expired.pk).update(expires=before)
    Invitation.objects.filter(pk=revoked.pk).update(revoked=before)
    Invitation.objects.filter(pk=used.pk).update(used=before)
    tasks.purge_invitations()
    assert list(Invitation.objects.all()) == [pending]


def test_removed_admin_does_not_come_back_by_a_link(
    project: Project, alice: User, bob: User
) -> None:
    owner, admin = (Member.objects.get(project=project, user=user) for user in (alice, bob))
    members.change_role(owner, admin, Role.ADMIN)
    (row,) = invitations.create(project, [], Role.ADMIN, actor=bob)
    members.remove(owner, admin)
    assert problem_of(invitation_tokens.make(row), bob) is Problem.REVOKED
