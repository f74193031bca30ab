"""Deliveries: stored with a fact, sent by a task, again after failures.

A message is sent at least once, with the same id in each attempt.
"""

import json
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects.models import EventKind, Project, Webhook, WebhookDelivery, WebhookFormat
from projects.webhooks.request import WebhookResponse, post
from projects.webhooks.signature import sign

MAX_ATTEMPTS = 11
FIRST_DELAY = timedelta(seconds=80)  # doubled by each further failure: a day and a half in all
# A webhook that accepts nothing for so long is switched off.
MAX_FAILING = timedelta(days=5)
RETENTION = timedelta(days=30)
MOST_OF_WEBHOOK = 20  # deliveries of one run: a project with many must not delay others
_THREADS = 8
_RUN_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Event:
    """Fact that webhooks are told; its name is unique in the project."""

    kind: EventKind
    name: str
    subject: str
    sentence: str
    url: str
    services: tuple[str, ...] = ()  # that the texts name
    comparison_url: str = ""  # page that shows the difference
    image_url: str = ""  # the same as an image, without a session


def record_event(
    project: Project,
    event: Event,
    *,
    tells_subscribed: bool = True,
    named: Collection[str] = (),
) -> int:
    """Store a delivery of an event for each webhook that gets it, once; return their number.

    These are the ones that want its kind, and those of `named`, by their ids.
    """
    count = 0
    for webhook in Webhook.objects.filter(project=project, disabled=None):
        is_subscribed = not webhook.kinds or event.kind in webhook.kinds
        if (is_subscribed and tells_subscribed) or webhook.webhook_id in named:
            count += add_delivery(webhook, event)
    return count


def add_delivery(webhook: Webhook, event: Event) -> bool:
    """Store a delivery; return False if the webhook has one of this event."""
    now = timezone.now()
    if webhook.format == WebhookFormat.SLACK:
        text = f"*{_escape(event.subject)}*\n{_escape(event.sentence)}\n<{event.url}>"
        body: dict[str, object] = {"text": text}
        if event.comparison_url:
            body["text"] = f"{text}\n<{event.comparison_url}|{_('What changed')}>"
        if event.image_url:
            # Unlike in blocks, an image that Slack cannot load only leaves itself out.
            body["attachments"] = [{"fallback": event.subject, "image_url": event.image_url}]
    else:
        links = {"comparison_url": event.comparison_url, "image_url": event.image_url}
        body = {
            "type": str(event.kind),
            "timestamp": now.isoformat(),
            "data": {
                "project": webhook.project.project_id,
                "event": event.name,
                "subject": event.subject,
                "text": event.sentence,
                "url": event.url,
                **{name: url for name, url in links.items() if url},
            },
        }
    try:
        with transaction.atomic():
            WebhookDelivery.objects.create(
                webhook=webhook,
                event=event.name,
                kind=event.kind,
                body=json.dumps(body),
                services=list(event.services),
                next_attempt=now,
            )
    except IntegrityError:
        return False
    return True


def _escape(text: str) -> str:
    """Escape the characters by which Slack marks links and mentions."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def send_due(now: datetime) -> int:
    """Send the due deliveries, the oldest first; return how many were accepted.

    Blocks for a minute.
    """
    end = time.monotonic() + _RUN_SECONDS
    rows = WebhookDelivery.objects.filter(
        next_attempt__lte=now, webhook__disabled=None, webhook__project__deletion_due=None
    )
    due: dict[int, list[WebhookDelivery]] = {}
    for row in rows.select_related("webhook").order_by("next_attempt", "pk").iterator():
        waiting = due.setdefault(row.webhook_id, [])
        if len(waiting) < MOST_OF_WEBHOOK:
            waiting.append(row)
    accepted = 0
    with ThreadPoolExecutor(_THREADS) as pool:
        # Rounds of one delivery of each webhook: one that is slow waits for itself alone.
        while due and time.monotonic() < end:
            batch = [waiting.pop(0) for waiting in due.values()]
            due = {webhook: waiting for webhook, waiting in due.items() if waiting}
            for row, outcome in zip(batch, pool.map(_send, batch), strict=True):
                accepted += outcome.is_accepted
                _note(row, outcome)
                if not outcome.is_accepted:
                    due.pop(row.webhook_id, None)  # the others would fail, too
    return accepted


def _send(delivery: WebhookDelivery) -> WebhookResponse:
    """Send one message; runs in a thread, without the database."""
    body, timestamp = delivery.body.encode(), int(time.time())
    message_id = f"msg_{delivery.message_id.hex}"
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Flamewatch-Webhooks/1",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(delivery.webhook, message_id, timestamp, body),
    }
    return post(delivery.webhook.url, body, headers)


def _note(delivery: WebhookDelivery, outcome: WebhookResponse) -> None:
    """Store the outcome of an attempt, and when the next one is."""
    now = timezone.now()
    delivery.attempts += 1
    delivery.status, delivery.reply, delivery.problem = (
        outcome.status,
        outcome.reply,
        outcome.problem,
    )
    webhook = Webhook.objects.filter(pk=delivery.webhook_id)
    if outcome.is_accepted:
        delivery.delivered, delivery.next_attempt = now, None
        webhook.update(failing_since=None)
    else:
        delay = FIRST_DELAY * 2 ** (delivery.attempts - 1)
        is_last = delivery.attempts >= MAX_ATTEMPTS
        delivery.next_attempt = None if is_last else now + delay
        webhook.filter(failing_since=None).update(failing_since=now)
        webhook.filter(disabled=None, failing_since__lt=now - MAX_FAILING).update(disabled=now)
    fields = ["attempts", "status", "reply", "problem", "delivered", "next_attempt"]
    # The row may have been deleted with its webhook.
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        **{name: getattr(delivery, name) for name in fields}
    )


def redeliver(delivery: WebhookDelivery) -> None:
    """Let the next run send a delivery again, with all of its attempts."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        attempts=0, delivered=None, next_attempt=timezone.now()
    )


def delete_old(now: datetime) -> None:
    WebhookDelivery.objects.filter(created__lt=now - RETENTION).delete()


def delete_messages(project: int, service: str, since: datetime | None = None) -> None:
    """Delete the messages of a project (its pk) about a service, or about any if it is empty.

    Messages of before `since` stay.
    """
    rows = WebhookDelivery.objects.filter(webhook__project=project).exclude(services=[])
    if since is not None:
        rows = rows.filter(created__gte=since)
    about = rows.values_list("pk", "services").iterator()
    found = [pk for pk, services in about if not service or service in services]
    WebhookDelivery.objects.filter(pk__in=found).delete()
