"""Rule of each new project: a service that stops reporting, told to the owner and to webhooks."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from pytest_django import Settings

from alerts import deliveries
from alerts.evaluation import evaluate_rules
from alerts.models import AlertIncident, AlertRule
from profiles.models import Profile
from projects.models import User
from projects.project_ids import create_project
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("silent_minutes", [30, 90])
def test_owner_is_told_when_a_service_stops_reporting(
    alice: User, silent_minutes: int, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    EmailAddress.objects.update_or_create(
        user=alice, email=alice.email, defaults={"verified": True, "primary": True}
    )
    project = create_project("New Shop", alice)
    rule = AlertRule.objects.get(project=project)
    AlertRule.objects.update(changed=rows.NOON - timedelta(days=1))
    rows.stored(rows.deployment(project))
    for minute in range(0, silent_minutes + 1, 3):
        now = rows.NOON + timedelta(minutes=minute)
        evaluate_rules(project, now)
        deliveries.announce(project, now)
    fired = silent_minutes > 60
    assert AlertIncident.objects.filter(rule=rule, subject="shop").exists() == fired
    assert [message.to for message in mail.outbox] == ([[alice.email]] if fired else [])


def test_projects_without_profiles_are_silent(alice: User) -> None:
    project = create_project("New Shop", alice)
    assert not Profile.objects.filter(project=project.pk).exists()
    for minute in range(0, 120, 3):
        evaluate_rules(project, rows.NOON + timedelta(minutes=minute))
    assert not AlertIncident.objects.exists()
