"""`/p/<project>/settings/notifications`: the member's e-mails, webhooks and their deliveries."""

from collections.abc import Callable
from typing import cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from projects import subscriptions
from projects.access import may_change_settings, membership
from projects.audit import Origin
from projects.models import (
    EventKind,
    Member,
    User,
    Webhook,
    WebhookDelivery,
    WebhookFormat,
)
from projects.subscriptions import KINDS, WEBHOOK_KINDS, is_subscribed
from projects.webhooks import settings as webhooks
from projects.webhooks.addresses import MAX_URL
from projects.webhooks.deliveries import redeliver
from projects.webhooks.settings import InvalidWebhook
from projects.webhooks.signature import get_secret

_DELIVERIES = 30  # rows of the table


class WebhookForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=webhooks.MAX_NAME)
    url = forms.CharField(
        label=gettext_lazy("URL"),
        max_length=MAX_URL,
        help_text=gettext_lazy("https://, with a public address."),
    )
    format = forms.ChoiceField(label=gettext_lazy("Format"), choices=WebhookFormat)
    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Events"),
        choices=[(kind.value, kind.label) for kind in WEBHOOK_KINDS],
        initial=[kind.value for kind in KINDS],
        widget=forms.CheckboxSelectMultiple,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notifications(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the member's e-mails and the webhooks; a POST creates one and shows its secret once."""
    member = membership(request.user, project_id)
    if request.method != "POST":
        return _render(request, member, WebhookForm())
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _render(request, member, form, status=400)
    values = form.cleaned_data
    try:
        webhook = webhooks.create_webhook(
            member.project,
            name=values["name"],
            url=values["url"],
            form=values["format"],
            kinds=values["kinds"],
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        )
    except InvalidWebhook as error:
        form.add_error(error.field, str(error))
        return _render(request, member, form, status=400)
    return _render(request, member, WebhookForm(), new=webhook)


@never_cache
@require_POST
def change_subscriptions(request: HttpRequest, project_id: str) -> HttpResponse:
    """Store which e-mails about the project the member gets."""
    member = membership(request.user, project_id)
    chosen = request.POST.getlist("kinds")
    subscriptions.change_subscriptions(member, [kind for kind in KINDS if kind in chosen])
    messages.success(request, _("Your e-mails are saved"))
    return redirect("notifications", project_id)


@never_cache
@require_POST
def change_webhook(
    request: HttpRequest, project_id: str, webhook_id: str, action: str
) -> HttpResponse:
    """Test, switch, rotate or delete a webhook; a new secret is shown once."""
    member = membership(request.user, project_id)
    row = Webhook.objects.filter(project=member.project, webhook_id=webhook_id).first()
    change = _ACTIONS.get(action)
    if row is None or change is None:
        raise Http404(_("The project has no such webhook."))
    row.project = member.project
    done = change(row, cast("User", request.user), Origin.from_request(request))
    if action == "rotate":
        return _render(request, member, WebhookForm(), new=row)
    messages.success(request, done)
    return redirect("notifications", project_id)


@never_cache
@require_POST
def redeliver_message(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    member = membership(request.user, project_id)
    row = WebhookDelivery.objects.filter(webhook__project=member.project, pk=pk).first()
    if row is None:
        raise Http404(_("The project has no such delivery."))
    redeliver(row)
    messages.success(request, _("The message is sent again within a minute"))
    return redirect("notifications", project_id)


def _test(row: Webhook, actor: User, origin: Origin) -> str:
    webhooks.add_test(row)
    return _("A test message is sent within a minute")


def _enable(row: Webhook, actor: User, origin: Origin) -> str:
    webhooks.set_enabled(row, is_enabled=True, actor=actor, origin=origin)
    return _("Webhook switched on")


def _disable(row: Webhook, actor: User, origin: Origin) -> str:
    webhooks.set_enabled(row, is_enabled=False, actor=actor, origin=origin)
    return _("Webhook switched off")


def _rotate(row: Webhook, actor: User, origin: Origin) -> str:
    webhooks.rotate_secret(row, actor=actor, origin=origin)
    return ""


def _delete(row: Webhook, actor: User, origin: Origin) -> str:
    webhooks.delete_webhook(row, actor=actor, origin=origin)
    return _("Webhook deleted")


_ACTIONS: dict[str, Callable[[Webhook, User, Origin], str]] = {
    "test": _test,
    "enable": _enable,
    "disable": _disable,
    "rotate": _rotate,
    "delete": _delete,
}


def _render(
    request: HttpRequest,
    member: Member,
    form: WebhookForm,
    new: Webhook | None = None,
    status: int = 200,
) -> HttpResponse:
    may_change = may_change_settings(member)
    hooks = Webhook.objects.filter(project=member.project) if may_change else Webhook.objects.none()
    deliveries = WebhookDelivery.objects.filter(webhook__in=hooks)
    context = {
        "project": member.project,
        "here": "settings",
        "may_change": may_change,
        "sends_mail": settings.SENDS_MAIL,
        "subscriptions": [(kind, is_subscribed(member, kind)) for kind in KINDS],
        "webhooks": [(row, _describe_kinds(row)) for row in hooks.order_by("name")],
        "deliveries": deliveries.select_related("webhook").order_by("-created", "-pk")[
            :_DELIVERIES
        ],
        "form": form,
        "new": new,
        "secret": get_secret(new) if new else "",
    }
    return render(request, "frontend/notifications/page.html", context, status=status)


def _describe_kinds(row: Webhook) -> str:
    if not row.kinds:
        return _("all")
    return ", ".join(str(EventKind(kind).label) for kind in row.kinds)
