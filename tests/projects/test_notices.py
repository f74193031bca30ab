"""E-mail notices about quotas and API keys."""

import smtplib
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from profiler_site.celery import app
from projects import notices, quota_requests
from projects.audit import NO_CLIENT
from projects.credentials import keys
from projects.models import (
    ApiKey,
    DayRejections,
    DayUsage,
    EventKind,
    MailNotice,
    Member,
    Project,
    Quota,
    Role,
    User,
)
from projects.subscriptions import change_subscriptions
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName
from projects.usage.rejections import RejectionReason

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture(autouse=True)
def verified(project: Project, alice: User, bob: User) -> None:
    """Verify the addresses of alice (owner) and bob (member)."""
    for user in (alice, bob):
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)


def use(project: Project, **usage: int) -> None:
    DayUsage.objects.update_or_create(project=project, day=utc_day(), defaults=usage)


def test_key_that_expires_is_told_once_for_each_number_of_days(
    project: Project, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, text = keys.create(project, "production-eu", expires=timezone.now() + 13.5 * DAY)
    assert notices.send_notices() == 1
    assert notices.send_notices() == 0
    [message] = mail.outbox
    assert message.to == [alice.email]
    assert "expires soon" in message.subject
    assert "“production-eu”" in message.body
    assert "expires in 14 days" in message.body
    assert f"/p/{project.project_id}/settings/keys" in message.body
    assert keys.parse(text).secret not in message.message().as_string()
    html = message.alternatives[0][0]  # type: ignore[attr-defined]
    assert "production-eu" in str(html)
    ApiKey.objects.filter(pk=row.pk).update(expires=timezone.now() + 2.5 * DAY)
    assert notices.send_notices() == 1
    assert "expires in 3 days" in mail.outbox[1].body


def test_other_keys_are_not_told(project: Project) -> None:
    now = timezone.now()
    keys.create(project, "never")
    keys.create(project, "later", expires=now + 15 * DAY)
    keys.create(project, "gone", expires=now - DAY)
    keys.revoke(keys.create(project, "revoked", expires=now + DAY)[0])
    rotated, _text = keys.create(project, "rotated", expires=now + 60 * DAY)
    keys.rotate(rotated)  # it expires within the overlap of 7 days
    Project.objects.filter(pk=project.pk).update(deletion_due=None)
    assert notices.send_notices() == 0


@pytest.mark.parametrize(
    ("profiles", "words"),
    [(79, None), (80, "used 80%"), (99, "used 80%"), (100, "has reached a quota")],
)
def test_quota_is_told_from_eighty_percent_on(
    project: Project, profiles: int, words: str | None
) -> None:
    Quota.objects.create(project=project, profiles_per_day=100)
    use(project, profiles=profiles)
    assert notices.send_notices() == (0 if words is None else 1)
    if words:
        assert words in mail.outbox[0].subject
        assert f"{profiles} of 100 are used" in mail.outbox[0].body


def test_quota_that_fills_up_is_told_twice_a_day(project: Project) -> None:
    Quota.objects.create(project=project, profiles_per_day=100)
    for profiles in (80, 90, 100, 120):
        use(project, profiles=profiles)
        notices.send_notices()
    assert len(mail.outbox) == 2


def test_storage_is_told_once_a_week(project: Project) -> None:
    Quota.objects.create(project=project, stored_bytes=1000)
    DayUsage.objects.create(project=project, day=utc_day() - DAY, stored_bytes=900)
    use(project, profiles=1)
    assert notices.send_notices() == 1
    assert "Stored of" in mail.outbox[0].body
    assert notices.send_notices() == 0
    assert f"{utc_day():%G-W%V}" in MailNotice.objects.get().fact


def test_owners_and_admins_with_verified_addresses_get_them(
    project: Project, alice: User, bob: User
) -> None:
    carol = User.objects.create_user("carol@example.org", "a sentence works well")
    Member.objects.create(project=project, user=carol, role=Role.ADMIN)  # not verified
    keys.create(project, "ci", expires=timezone.now() + DAY)
    notices.send_notices()
    assert [message.to for message in mail.outbox] == [[alice.email]]
    Member.objects.filter(project=project, user=bob).update(role=Role.ADMIN)
    EmailAddress.objects.create(user=carol, email=carol.email, verified=True, primary=True)
    keys.create(project, "second", expires=timezone.now() + DAY)
    notices.send_notices()
    addresses = [message.to[0] for message in mail.outbox[1:]]
    assert addresses == sorted([alice.email, bob.email, carol.email])


def test_person_turns_them_off_on_the_account_page(
    client: Client, project: Project, alice: User
) -> None:
    client.force_login(alice)
    assert "Save notifications" in client.get(reverse("account")).content.decode()
    client.post(reverse("change_notices"), {})
    keys.create(project, "ci", expires=timezone.now() + DAY)
    notices.send_notices()
    assert mail.outbox == []
    client.post(reverse("change_notices"), {"receives": "on"})
    alice.refresh_from_db()
    assert alice.receives_notices


def test_notice_is_sent_again_after_the_mail_server_has_failed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys.create(project, "ci", expires=timezone.now() + DAY)
    with monkeypatch.context() as broken:

        def fail(*_args: object) -> None:
            raise smtplib.SMTPServerDisconnected("gone")

        broken.setattr("django.core.mail.EmailMultiAlternatives.send", fail)
        assert notices.send_notices() == 0
    assert MailNotice.objects.get().sent is None
    assert notices.send_notices() == 1
    assert len(mail.outbox) == 1


def test_notice_that_could_not_be_sent_for_days_is_dropped(project: Project) -> None:
    row, _text = keys.create(project, "ci", expires=timezone.now() + DAY)
    MailNotice.objects.create(project=project, fact=f"key:{row.pk}:3")
    MailNotice.objects.update(created=timezone.now() - 3 * DAY)
    assert notices.send_notices() == 0
    assert mail.outbox == []


def test_without_a_mail_server_nothing_is_written(project: Project, settings: Settings) -> None:
    settings.SENDS_MAIL = False
    keys.create(project, "ci", expires=timezone.now() + DAY)
    assert notices.send_notices() == 0
    assert not MailNotice.objects.exists()


def test_deleted_project_gets_none(project: Project) -> None:
    keys.create(project, "ci", expires=timezone.now() + DAY)
    use(project, profiles=200_000)
    Project.objects.filter(pk=project.pk).update(deletion_due=timezone.now() + DAY)
    assert notices.send_notices() == 0


def test_beat_looks_every_ten_minutes() -> None:
    app.loader.import_default_modules()
    name = "projects.tasks.send_notices"
    assert name in app.tasks
    (entry,) = (each for each in app.conf.beat_schedule.values() if each["task"] == name)
    assert "*/10 * * * *" in repr(entry["schedule"])


def test_old_notices_are_deleted(project: Project) -> None:
    for name, age in (("old", 401 * DAY), ("new", 399 * DAY)):
        row = MailNotice.objects.create(project=project, fact=name)
        MailNotice.objects.filter(pk=row.pk).update(created=timezone.now() - age)
    notices.delete_old(timezone.now() - 400 * DAY)
    assert [row.fact for row in MailNotice.objects.all()] == ["new"]


def test_request_is_told_to_operators_and_its_decision_to_whoever_asked(
    project: Project, alice: User, bob: User
) -> None:
    operator = User.objects.create_superuser("operator@example.org", "a sentence works well")
    User.objects.create_superuser("unverified@example.org", "a sentence works well")
    EmailAddress.objects.create(user=operator, email=operator.email, verified=True, primary=True)
    row = quota_requests.create(
        project,
        LimitName.STORED_BYTES,
        40 * 10**9,
        "Retention of 60 days",
        actor=alice,
        origin=NO_CLIENT,
    )
    assert notices.send_notices() == 1
    assert notices.send_notices() == 0
    [message] = mail.outbox
    assert message.to == [operator.email]
    assert "Stored, 20 GB → 40 GB. Reason: “Retention of 60 days”" in message.body
    assert reverse("admin:projects_project_overview", args=[project.pk]) in message.body
    assert "as an operator of this server" in message.body
    quota_requests.decline(row, "The disk is full", actor=operator, origin=NO_CLIENT)
    assert notices.send_notices() == 1
    decision = mail.outbox[1]
    assert decision.to == [alice.email]
    assert "Declined. The operator says: “The disk is full”" in decision.body
    assert reverse("usage", args=[project.project_id]) in decision.body


def test_decision_is_not_told_to_somebody_who_has_left(project: Project, alice: User) -> None:
    row = quota_requests.create(
        project, LimitName.STORED_BYTES, 40 * 10**9, "More", actor=alice, origin=NO_CLIENT
    )
    quota_requests.grant(row, 40 * 10**9, "", actor=alice, origin=NO_CLIENT)
    Member.objects.filter(project=project, user=alice).delete()
    notices.send_notices()
    assert mail.outbox == []


def reject(project: Project, reason: RejectionReason, count: int) -> None:
    DayRejections.objects.update_or_create(
        project=project, day=utc_day(), reason=reason.value, defaults={"count": count}
    )


def test_rejected_uploads_are_told_once_a_day_for_each_reason(
    project: Project, alice: User
) -> None:
    reject(project, RejectionReason.KEY_EXPIRED, notices.MIN_REJECTED - 1)
    reject(project, RejectionReason.SUSPENDED, 10_000)  # everybody knows
    reject(project, RejectionReason.PROFILES_PER_DAY, 10_000)  # a quota
    assert notices.send_notices() == 0
    reject(project, RejectionReason.KEY_EXPIRED, 1234)
    reject(project, RejectionReason.LABEL_VALUES, notices.MIN_REJECTED)
    assert notices.send_notices() == 2
    assert notices.send_notices() == 0
    first = mail.outbox[0]
    assert first.to == [alice.email]
    assert first.subject == "[Flamewatch] Acme Shop: uploads are rejected"
    assert "1,234 requests of Acme Shop were rejected today: Expired API key." in first.body
    assert "Replace it." in first.body
    assert f"/p/{project.project_id}/settings/usage" in first.body


def test_notice_leads_to_the_page_that_ends_it(project: Project, settings: Settings) -> None:
    keys.create(project, "soon", expires=timezone.now() + DAY)
    notices.send_notices()
    [message] = mail.outbox
    address = f"{settings.FLAMEWATCH_URL}/p/{project.project_id}/settings/notifications"
    assert message.extra_headers["List-Unsubscribe"] == f"<{address}>"
    assert address in message.body
    assert address in str(message.alternatives[0][0])  # type: ignore[attr-defined]


def test_members_who_have_subscribed_get_notices(project: Project, alice: User, bob: User) -> None:
    for user, kinds in ((alice, []), (bob, [EventKind.KEY_EXPIRY])):
        change_subscriptions(Member.objects.get(project=project, user=user), kinds)
    keys.create(project, "soon", expires=timezone.now() + DAY)
    assert notices.send_notices() == 1
    assert [message.to for message in mail.outbox] == [[bob.email]]
