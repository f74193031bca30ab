"""Deliveries: stored with a fact, sent by a task, again after failures.

A message is sent at least once, with the same id in each attempt.
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

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


def record_event(
    project: Project, kind: EventKind, event: str, subject: str, sentence: str, url: str
) -> int:
    """Store a delivery of an event for each webhook that wants it, once; return their number."""
    count = 0
    for webhook in Webhook.objects.filter(project=project, disabled=None):
        if not webhook.kinds or kind in webhook.kinds:
            count += add_delivery(webhook, kind, event, subject, sentence, url)
    return count


def add_delivery(
    webhook: Webhook, kind: EventKind, event: str, subject: str, sentence: str, url: str
) -> bool:
    """Store a delivery; return False if the webhook has one of this event."""
    now = timezone.now()
    if webhook.format == WebhookFormat.SLACK:
        text = f"*{_escape(subject)}*\n{_escape(sentence)}\n<{url}>"
        body: dict[str, object] = {"text": text}
    else:
        body = {
            "type": str(kind),
            "timestamp": now.isoformat(),
            "data": {
                "project": webhook.project.project_id,
                "event": event,
                "subject": subject,
                "text": sentence,
                "url": url,
            },
        }
    try:
        with transaction.atomic():
            WebhookDelivery.objects.create(
                webhook=webhook, event=event, kind=kind, body=json.dumps(body), next_attempt=now
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
