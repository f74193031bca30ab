"""Webhooks of a project, and the deliveries to them."""

import secrets
import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project


class EventKind(models.TextChoices):
    """Kind of a fact that people and webhooks are told."""

    QUOTA = "quota", _("Quotas")
    REJECTION = "rejection", _("Rejected uploads")
    KEY_EXPIRY = "key_expiry", _("API keys that expire")
    QUOTA_REQUEST = "quota_request", _("Quota requests")
    FINDING = "finding", _("Regressions")
    ALERT = "alert", _("Alerts")
    # A choice of webhooks: other rules send them nothing.
    NAMED_ALERT = "named_alert", _("Alerts of rules that name it")
    TEST = "test", _("Tests")


class WebhookFormat(models.TextChoices):
    GENERIC = "generic", _("JSON, signed")
    SLACK = "slack", _("Slack-compatible")


def make_webhook_id() -> str:
    return secrets.token_hex(6)


def make_nonce() -> str:
    return secrets.token_urlsafe(24)


class Webhook(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    webhook_id = models.CharField(max_length=12, unique=True, default=make_webhook_id)
    name = models.CharField(max_length=100)
    url = models.CharField(max_length=1000)
    format = models.CharField(max_length=10, choices=WebhookFormat, default=WebhookFormat.GENERIC)
    kinds = models.JSONField(default=list)  # EventKind values; empty: all
    # The secret is derived from it and from the server's key, so that it is stored nowhere.
    nonce = models.CharField(max_length=40, default=make_nonce)
    previous_nonce = models.CharField(max_length=40, blank=True, default="")
    rotated = models.DateTimeField(null=True)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    disabled = models.DateTimeField(null=True)
    # Time of the first failure since the last success; None: the last delivery succeeded.
    failing_since = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_webhook_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name


class WebhookDelivery(models.Model):
    """Message to a webhook: sent until it is accepted, or until its attempts are used."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message_id = models.UUIDField(default=uuid.uuid4, unique=True)  # the same for each attempt
    event = models.CharField(max_length=120)  # name of the fact
    kind = models.CharField(max_length=20)
    body = models.TextField()
    services = models.JSONField(default=list)  # that the body names
    created = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt = models.DateTimeField(null=True)  # None: accepted, or given up
    delivered = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)  # of the latest response
    reply = models.CharField(max_length=300, blank=True, default="")  # its first characters
    problem = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event"], name="one_delivery_of_an_event")
        ]
        indexes = [models.Index(fields=["next_attempt"], name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
