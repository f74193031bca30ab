"""Webhooks of a project: add, change, switch off, rotate the secret, delete, test."""

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.models import EventKind, Project, User, Webhook, WebhookFormat
from projects.models.webhook import make_nonce
from projects.webhooks.addresses import ForbiddenAddress, check_url
from projects.webhooks.deliveries import Event, add_delivery

MAX_WEBHOOKS = 20  # of a project
MAX_NAME = 100


class InvalidWebhook(ValueError):
    """Webhook that cannot be stored; `field` is wrong."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def create_webhook(
    project: Project,
    *,
    name: str,
    url: str,
    form: str,
    kinds: list[str],
    actor: User,
    origin: audit.Origin,
) -> Webhook:
    """Store a webhook, and record it. Raise InvalidWebhook."""
    name = name.strip()
    if not 0 < len(name) <= MAX_NAME:
        raise InvalidWebhook(
            "name", _("The name must have 1 to %(n)d characters.") % {"n": MAX_NAME}
        )
    if form not in WebhookFormat.values:
        raise InvalidWebhook("format", _("Unknown format."))
    unknown = [kind for kind in kinds if kind not in EventKind.values]
    if unknown:
        raise InvalidWebhook("kinds", _("Unknown kind of event: %(kind)s.") % {"kind": unknown[0]})
    try:
        check_url(url)
    except ForbiddenAddress as error:
        raise InvalidWebhook("url", str(error)) from None
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        rows = Webhook.objects.filter(project=project)
        if rows.count() >= MAX_WEBHOOKS:
            raise InvalidWebhook(
                "name", _("The project has %(n)d webhooks, the limit.") % {"n": MAX_WEBHOOKS}
            )
        if rows.filter(name=name).exists():
            raise InvalidWebhook("name", _("The project has a webhook of this name."))
        webhook = Webhook.objects.create(
            project=project, name=name, url=url, format=form, kinds=kinds, created_by=actor
        )
        _record(webhook, "webhook.create", actor, origin)
    return webhook


def set_enabled(webhook: Webhook, *, is_enabled: bool, actor: User, origin: audit.Origin) -> None:
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook.pk).update(
            disabled=None if is_enabled else timezone.now(), failing_since=None
        )
        _record(webhook, "webhook.change", actor, origin, is_enabled=is_enabled)


def rotate_secret(webhook: Webhook, *, actor: User, origin: audit.Origin) -> None:
    """Make a new secret; messages are signed with the one before, too, for a day."""
    with transaction.atomic():
        webhook.previous_nonce, webhook.rotated = webhook.nonce, timezone.now()
        webhook.nonce = make_nonce()
        webhook.save(update_fields=["nonce", "previous_nonce", "rotated"])
        _record(webhook, "webhook.rotate", actor, origin)


def delete_webhook(webhook: Webhook, *, actor: User, origin: audit.Origin) -> None:
    with transaction.atomic():
        _record(webhook, "webhook.delete", actor, origin)
        webhook.delete()


def add_test(webhook: Webhook) -> None:
    """Add a delivery that the next run sends."""
    address = reverse("notifications", args=[webhook.project.project_id])
    event = Event(
        EventKind.TEST,
        f"test:{timezone.now():%Y-%m-%dT%H:%M:%S.%f}",
        _("Test of the webhook %(name)s") % {"name": webhook.name},
        _("Flamewatch can reach this address."),
        f"{settings.FLAMEWATCH_URL}{address}",
    )
    add_delivery(webhook, event)


def _record(
    webhook: Webhook,
    action: str,
    actor: User,
    origin: audit.Origin,
    *,
    is_enabled: bool = True,
) -> None:
    """Record a change; the URL may contain a token, so only its host is recorded."""
    audit.record(
        webhook.project,
        action,
        actor=actor,
        origin=origin,
        target=webhook.name,
        host=webhook.url.partition("://")[2].partition("/")[0],
        enabled=is_enabled,
    )
