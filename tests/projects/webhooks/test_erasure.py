"""Messages about deleted services are deleted, and no others."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from projects.models import EventKind, Project, Webhook, WebhookDelivery
from projects.service_erasure import ErasedRange, erase_range, erase_service
from projects.webhooks.deliveries import Event, add_delivery

pytestmark = pytest.mark.django_db


def add(project: Project, *services: str) -> None:
    name = "+".join(services)
    webhook, _ = Webhook.objects.get_or_create(project=project, url="https://chat.example.org/")
    event = Event(EventKind.ALERT, name, "Subject", "Sentence", "https://h/", services)
    assert add_delivery(webhook, event)


def list_events(project: Project) -> set[str]:
    rows = WebhookDelivery.objects.filter(webhook__project=project)
    return set(rows.values_list("event", flat=True))


def test_messages_that_name_the_service_are_deleted(
    project: Project, other_project: Project
) -> None:
    for owner in (project, other_project):
        add(owner, "shop")
        add(owner, "till", "shop")
        add(owner, "shop-2")
        add(owner)  # about a quota
    erase_service(project, "shop")
    assert list_events(project) == {"shop-2", ""}
    assert list_events(other_project) == {"shop", "till+shop", "shop-2", ""}


def test_messages_of_before_the_deleted_range_stay(project: Project) -> None:
    for service in ("shop", "till"):
        add(project, service)
    add(project)
    now = timezone.now()
    erase_range(ErasedRange(project.pk, "shop", "CPU", now, now))
    assert list_events(project) == {"shop", "till", ""}
    erase_range(ErasedRange(project.pk, "shop", "CPU", datetime(2026, 1, 1, tzinfo=UTC), now))
    assert list_events(project) == {"till", ""}
    erase_range(ErasedRange(project.pk, "", "", None, now))
    assert list_events(project) == {""}
