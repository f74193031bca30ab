"""E-mails about new regressions: once for each finished analysis, to owners and admins."""

import smtplib
from datetime import datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone
from pytest_django import Settings

from findings import notices
from findings.models import Direction, FindingState, ProjectAnalysis
from findings.tasks import send_notices
from profiler_site.celery import app
from projects.models import Project, User, Webhook, WebhookDelivery
from tests.findings.factory import FOUND, add_finding

pytestmark = pytest.mark.django_db
HALF_DAY = timedelta(hours=12)


@pytest.fixture(autouse=True)
def mail_server(settings: Settings, alice: User, bob: User) -> None:
    """Accept e-mails; alice (owner) and bob (member) have verified addresses."""
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    for user in (alice, bob):
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)


def finish_analysis(project: Project, end: datetime = FOUND) -> None:
    ProjectAnalysis.objects.update_or_create(
        project=project, defaults={"end": end, "finished": timezone.now()}
    )


def test_analysis_is_told_once_when_it_is_finished(project: Project, alice: User) -> None:
    Webhook.objects.create(project=project, name="chat", url="https://chat.example.org/")
    add_finding(project)
    add_finding(project, function="shop.tax", rank=0.9, version="", change=5e7, before=1e8)
    assert notices.send_notices() == 0  # other services may have some, too
    finish_analysis(project)
    assert notices.send_notices() == 1
    assert notices.send_notices() == 0
    [message] = mail.outbox
    assert message.to == [alice.email]
    assert message.subject == "[Flamewatch] Acme Shop: 2 new regressions"
    assert "shop.tax of shop (CPU), +50%; shop.price of shop (CPU), +23% since 2." in message.body
    assert f"/p/{project.project_id}/findings" in message.body
    assert WebhookDelivery.objects.get().services == ["shop"]


def test_next_analysis_tells_only_its_own_and_escalated_ones(project: Project) -> None:
    finding = add_finding(project)
    add_finding(project, function="same.cost")
    finish_analysis(project)
    assert notices.send_notices() == 1
    end = FOUND + HALF_DAY
    finish_analysis(project, end)
    assert notices.send_notices() == 0
    finding.escalated = end
    finding.save()
    add_finding(project, function="later", found=end)
    assert notices.send_notices() == 1
    body = mail.outbox[-1].body
    assert "shop.price" in body
    assert "later" in body
    assert "same.cost" not in body


@pytest.mark.parametrize(
    "changes",
    [
        {"direction": Direction.IMPROVEMENT},
        {"state": FindingState.MUTED},
        {"state": FindingState.ACKNOWLEDGED},
        {"state": FindingState.RESOLVED},
    ],
)
def test_nothing_is_told_about_others(changes: dict[str, str], project: Project) -> None:
    add_finding(project, **changes)
    finish_analysis(project)
    assert notices.send_notices() == 0


def test_many_regressions_are_named_in_part(project: Project) -> None:
    for number in range(7):
        add_finding(project, function=f"f{number}", rank=1 - number / 10)
    finish_analysis(project)
    notices.send_notices()
    assert "f4 of shop (CPU), +23% since 2; and 2 more" in mail.outbox[0].body
    assert "f5" not in mail.outbox[0].body


def test_failed_mail_is_sent_by_the_next_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> int:
        raise smtplib.SMTPServerDisconnected("closed")

    add_finding(project)
    finish_analysis(project)
    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", fail)
        assert notices.send_notices() == 0
    send_notices()
    assert len(mail.outbox) == 1
    assert "findings.tasks.send_notices" in {
        entry["task"] for entry in app.conf.beat_schedule.values()
    }


def test_projects_that_are_deleted_are_told_nothing(project: Project) -> None:
    add_finding(project)
    finish_analysis(project)
    Project.objects.filter(pk=project.pk).update(deletion_due=timezone.now())
    assert notices.send_notices() == 0
