"""Notices for members and webhooks: quotas, rejected uploads, API keys that expire, requests.

Operators get the requests for higher quotas, those who asked get the decisions.

A task looks for facts every ten minutes. Each fact has one row, which is written before its e-mail
is sent and marked after it: a mail server that fails gets it again with the next run.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects import quota_requests
from projects.credentials import embed_tokens
from projects.credentials.embed_tokens import QueryTooLong
from projects.mail_message import render_message
from projects.models import (
    ApiKey,
    DayRejections,
    DayUsage,
    EventKind,
    MailNotice,
    Project,
    QuotaRequest,
    QuotaRequestState,
    User,
    Webhook,
)
from projects.subscriptions import find_subscribers
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName
from projects.usage.quota_reached import amount_text
from projects.usage.rejection_advice import explain_rejection
from projects.usage.rejections import LABELS as REASONS
from projects.usage.rejections import RejectionReason
from projects.usage.usage import LABELS
from projects.usage.warnings import QuotaWarning, load_warnings
from projects.webhooks.deliveries import Event, record_event

logger = logging.getLogger(__name__)

# A notice that could not be sent for so long is no news any more.
MAX_AGE = timedelta(days=2)
# Uploads of a day that are rejected for one reason: fewer may be mistakes that somebody has seen.
MIN_REJECTED = 10
# Those that last until somebody acts, and that no notice about a quota tells.
_TOLD_REASONS = (
    RejectionReason.PROFILES_PER_MINUTE,
    RejectionReason.BYTES_PER_PROFILE,
    RejectionReason.CONVERSION,
    RejectionReason.DECODING,
    RejectionReason.LABEL_VALUES,
    RejectionReason.KEY_EXPIRED,
    RejectionReason.KEY_SERVICES,
)

_IMAGE_WIDTH = 520  # pixels, as wide as the text of an e-mail


@dataclass(frozen=True, slots=True)
class Fact:
    """Something about a project that people are told once, by default its subscribers."""

    project: Project
    name: str
    subject: str
    sentence: str
    page: str  # name of the URL that shows it
    kind: EventKind
    operators_only: bool = False
    services: tuple[str, ...] = ()  # that the texts name
    person: int | None = None  # primary key of the one account that is told
    sends_mail: bool = True
    tells_subscribed_webhooks: bool = True
    named_webhooks: tuple[str, ...] = ()  # ids of those that are told whatever they want
    comparison: str = ""  # query of the page of comparisons that shows it


def send_notices() -> int:
    """Send the e-mails of all new facts; return how many facts were new. May block for long."""
    if not has_channel():
        return 0
    now, sent = timezone.now(), 0
    with translation.override(settings.LANGUAGE_CODE):
        facts = (
            *_list_expiring_keys(now),
            *_list_quotas(),
            *_list_rejections(),
            *_list_requests(now),
        )
        for fact in facts:
            sent += send_once(fact, now)
    return sent


def has_channel() -> bool:
    """Return False if nobody can be told anything: no mail server, and no webhook."""
    return settings.SENDS_MAIL or Webhook.objects.filter(disabled=None).exists()


def send_once(fact: Fact, now: datetime) -> bool:
    """Tell a fact unless it was told; return True if it is told now.

    The deliveries to webhooks are stored, and e-mails are sent.
    """
    row, _is_new = MailNotice.objects.get_or_create(project=fact.project, fact=fact.name)
    if row.sent is not None or now - row.created >= MAX_AGE:
        return False
    event = Event(
        fact.kind,
        fact.name,
        fact.subject,
        fact.sentence,
        _build_url(fact),
        fact.services,
        _build_comparison_url(fact),
        _build_image_url(fact, now),
    )
    if not fact.operators_only and fact.person is None:
        record_event(
            fact.project,
            event,
            tells_subscribed=fact.tells_subscribed_webhooks,
            named=fact.named_webhooks,
        )
    if settings.SENDS_MAIL and fact.sends_mail and not _send(fact, event):
        return False
    MailNotice.objects.filter(pk=row.pk).update(sent=now)
    return True


def is_sent(fact: Fact) -> bool:
    rows = MailNotice.objects.filter(project=fact.project, fact=fact.name)
    return rows.exclude(sent=None).exists()


def delete_old(before: datetime) -> None:
    MailNotice.objects.filter(created__lt=before).delete()


def _list_expiring_keys(now: datetime) -> Iterator[Fact]:
    """Yield the keys that expire soon and were not rotated, with the smallest number of days."""
    notice_days = sorted(settings.KEY_EXPIRY_NOTICE_DAYS)
    if not notice_days:
        return
    last = now + timedelta(days=notice_days[-1])
    rows = ApiKey.objects.filter(
        revoked=None, replaced_by=None, expires__gt=now, expires__lte=last
    ).filter(project__deletion_due=None)
    for key in rows.select_related("project").order_by("pk"):
        if key.expires is None:
            continue
        left = key.expires - now
        days = next(each for each in notice_days if left <= timedelta(days=each))
        count = max(1, -(-left // timedelta(days=1)))
        yield Fact(
            project=key.project,
            name=f"key:{key.pk}:{days}",
            subject=_("API key “%(name)s” expires soon") % {"name": key.name},
            sentence=ngettext(
                "The API key “%(name)s” (%(prefix)s…) of %(project)s expires in %(count)d day."
                " Rotate it, and give your agents the new one.",
                "The API key “%(name)s” (%(prefix)s…) of %(project)s expires in %(count)d days."
                " Rotate it, and give your agents the new one.",
                count,
            )
            % {
                "name": key.name,
                "prefix": key.prefix,
                "project": key.project.name,
                "count": count,
            },
            page="api_keys",
            kind=EventKind.KEY_EXPIRY,
        )


def _list_quotas() -> Iterator[Fact]:
    """Yield the quotas of today's active projects that are used to a threshold or more."""
    today = utc_day()
    rows = DayUsage.objects.filter(day=today, project__deletion_due=None)
    for row in rows.select_related("project").order_by("project_id"):
        for warning in load_warnings(row.project_id):
            yield _describe_quota(row.project, warning, today)


def _describe_quota(project: Project, warning: QuotaWarning, day: date) -> Fact:
    name = warning.limit
    values = {
        "project": project.name,
        "limit": LABELS[name],
        "used": amount_text(name, warning.used),
        "allowed": amount_text(name, warning.allowed),
    }
    percent = 100 if warning.is_full else 80  # part of the stored names of facts
    if warning.is_full:
        subject = _("%(project)s has reached a quota: %(limit)s")
        sentence = _(
            "%(limit)s of %(project)s: %(used)s of %(allowed)s are used. What exceeds the quota is"
            " rejected; nothing stored is lost. The operator of the server can raise it."
        )
    else:
        subject = _("%(project)s has used 80%% of a quota: %(limit)s")
        sentence = _(
            "%(limit)s of %(project)s: %(used)s of %(allowed)s are used. At the quota, more is"
            " rejected. The operator of the server can raise it."
        )
    # The quotas of a day begin again; storage stays full for longer: it is told once a week.
    period = f"{day:%G-W%V}" if name is LimitName.STORED_BYTES else f"{day}"
    return Fact(
        project=project,
        name=f"{name}:{percent}:{period}",
        subject=subject % values,
        sentence=sentence % values,
        page="usage",
        kind=EventKind.QUOTA,
    )


def _list_rejections() -> Iterator[Fact]:
    """Yield the reasons for which a project's uploads are rejected today."""
    today = utc_day()
    rows = DayRejections.objects.filter(
        day=today, reason__in=_TOLD_REASONS, count__gte=MIN_REJECTED, project__deletion_due=None
    )
    for row in rows.select_related("project").order_by("project_id", "reason"):
        reason = RejectionReason(row.reason)
        values = {
            "project": row.project.name,
            "reason": REASONS[reason],
            "count": f"{row.count:,}",
            "advice": explain_rejection(reason),
        }
        yield Fact(
            project=row.project,
            name=f"rejection:{reason}:{today}",
            subject=_("%(project)s: uploads are rejected") % values,
            sentence=_(
                "%(count)s requests of %(project)s were rejected today: %(reason)s. %(advice)s"
            )
            % values,
            page="usage",
            kind=EventKind.REJECTION,
        )


def _list_requests(now: datetime) -> Iterator[Fact]:
    """Yield the open quota requests for operators, and recent decisions for those who asked."""
    rows = QuotaRequest.objects.filter(project__deletion_due=None).select_related("project")
    since = now - MAX_AGE
    for row in rows.filter(state=QuotaRequestState.OPEN, created__gt=since).order_by("pk"):
        values = {
            "project": row.project.name,
            "change": quota_requests.describe(row),
            "reason": row.reason,
        }
        yield Fact(
            project=row.project,
            name=f"quota_request:{row.pk}",
            subject=_("%(project)s requests a higher quota") % values,
            sentence=_("%(project)s requests: %(change)s. Reason: “%(reason)s”") % values,
            page="admin:projects_project_overview",
            kind=EventKind.QUOTA_REQUEST,
            operators_only=True,
        )
    decided = rows.filter(decided__gt=since).exclude(created_by=None)
    for row in decided.order_by("pk"):
        values = {
            "project": row.project.name,
            "change": quota_requests.describe(row),
            "state": row.get_state_display(),
        }
        sentence = _("Your request for %(project)s: %(change)s. %(state)s.") % values
        note = _("The operator says: “%(note)s”") % {"note": row.note} if row.note else ""
        yield Fact(
            project=row.project,
            name=f"quota_decision:{row.pk}",
            subject=_("Your quota request for %(project)s was decided") % values,
            sentence=f"{sentence} {note}".strip(),
            page="usage",
            kind=EventKind.QUOTA_REQUEST,
            person=row.created_by_id,
        )


def _build_url(fact: Fact) -> str:
    of_admin = fact.page.startswith("admin:")
    argument = fact.project.pk if of_admin else fact.project.project_id
    return f"{settings.FLAMEWATCH_URL}{reverse(fact.page, args=[argument])}"


def _build_subscriptions_url(fact: Fact) -> str:
    """Return the page where a recipient unsubscribes; "" for what only operators or one get."""
    if fact.operators_only or fact.person is not None:
        return ""
    path = reverse("notifications", args=[fact.project.project_id])
    return f"{settings.FLAMEWATCH_URL}{path}"


def _build_comparison_url(fact: Fact) -> str:
    if not fact.comparison:
        return ""
    path = reverse("compare", args=[fact.project.project_id])
    return f"{settings.FLAMEWATCH_URL}{path}?{fact.comparison}"


def _build_image_url(fact: Fact, now: datetime) -> str:
    """Return the address of the comparison as an image, which needs no session."""
    days = settings.NOTICE_IMAGE_DAYS
    if not fact.comparison or not days:
        return ""
    expires = int((now + timedelta(days=days)).timestamp())
    try:
        token = embed_tokens.sign(fact.project, fact.comparison, expires, embed_tokens.COMPARE)
    except QueryTooLong:  # of long names
        return ""
    size = f"width={_IMAGE_WIDTH}&levels=16&scale=2"
    return f"{settings.FLAMEWATCH_URL}{embed_tokens.PATH_PREFIX}{token}.png?{size}"


def _send(fact: Fact, event: Event) -> bool:
    """Send an e-mail about an event to each recipient; return False if the mail server fails."""
    context = {
        "subject": fact.subject,
        "sentence": fact.sentence,
        "url": event.url,
        "for_operators": fact.operators_only,
        "account_url": f"{settings.FLAMEWATCH_URL}{reverse('account')}",
        "subscriptions_url": _build_subscriptions_url(fact),
        "comparison_url": event.comparison_url,
        "image_url": event.image_url,
        "image_width": _IMAGE_WIDTH,
    }
    try:
        for recipient in _list_recipients(fact):
            message = render_message("notice", context, fact.subject, recipient)
            if url := context["subscriptions_url"]:
                message.extra_headers["List-Unsubscribe"] = f"<{url}>"
            message.send()
    except OSError as error:  # of the network or, as smtplib's are, of the server
        logger.warning("a notice about %s was not sent: %s", fact.project.project_id, error)
        return False
    return True


def _list_recipients(fact: Fact) -> list[str]:
    """Return the verified addresses of those who want notices."""
    users = User.objects.filter(is_active=True, receives_notices=True)
    if fact.operators_only:
        users = users.filter(is_superuser=True, is_staff=True)
    elif fact.person is not None:
        users = users.filter(pk=fact.person, memberships__project=fact.project)
    else:
        users = users.filter(pk__in=find_subscribers(fact.project, fact.kind))
    rows = EmailAddress.objects.filter(user__in=users, verified=True, primary=True)
    return list(rows.order_by("email").values_list("email", flat=True))
