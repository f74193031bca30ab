"""Messages about incidents: one when an alert fires, and one when it resolves."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import translation
from django.utils.translation import gettext as _

from alerts import silences
from alerts.conditions.observation import InvalidParameters
from alerts.evidence import build_comparison
from alerts.models import AlertIncident
from alerts.texts import describe_incident, describe_rule
from projects.models import EventKind, Project
from projects.notices import Fact, has_channel, is_sent, send_once

# Messages about older incidents are no news any more.
MAX_AGE = timedelta(days=2)
MAX_MESSAGES = 50  # of one run and project


def announce(project: Project, now: datetime) -> int:
    """Record a message for each incident that began or ended; return their number.

    A silenced rule sends none. If it still fires when the silence ends, its message follows; an
    incident that nobody was told about ends without one. Messages have names, so that a run after
    a crash does not repeat them.
    """
    silenced = silences.find_silenced_rules(project, now)
    is_begun = Q(ended=None, announced=None) & ~Q(rule__in=silenced)
    is_ended = Q(ended__gt=now - MAX_AGE, announced__isnull=False, end_announced=None)
    rows = AlertIncident.objects.filter(is_begun | is_ended, rule__project=project)
    sent, is_heard = 0, has_channel()
    with translation.override(settings.LANGUAGE_CODE):
        for row in rows.select_related("rule").order_by("started", "pk")[:MAX_MESSAGES]:
            is_silent = not is_heard or row.rule_id in silenced
            sent += _announce_one(project, row, now, is_silent=is_silent)
    return sent


def _announce_one(
    project: Project, incident: AlertIncident, now: datetime, *, is_silent: bool
) -> bool:
    """Send the message of one incident and mark it; return False if it sends none."""
    fact = None if is_silent else _describe(project, incident, now)
    has_sent = False
    if fact is not None:
        has_sent = send_once(fact, now)
        if not has_sent and not is_sent(fact):
            return False  # the mail server has failed: the next run tries again
    mark = {"end_announced": now} if incident.ended else {"announced": now}
    AlertIncident.objects.filter(pk=incident.pk).update(**mark)
    return has_sent


def _describe(project: Project, incident: AlertIncident, now: datetime) -> Fact | None:
    """Return the message; None for a rule of a later version of the server."""
    rule = incident.rule
    try:
        condition = rule.parse_condition()
    except InvalidParameters:
        return None
    words = {
        "name": rule.name,
        "project": project.name,
        "condition": describe_rule(rule, condition),
        "value": describe_incident(rule, condition, incident),
        "started": f"{incident.started:%F %H:%M} UTC",
    }
    if incident.ended is None:
        subject = _("%(project)s: %(name)s is firing") % words
        sentence = _("%(condition)s. %(value)s. Firing since %(started)s.") % words
    else:
        words["ended"] = f"{incident.ended:%F %H:%M} UTC"
        subject = _("%(project)s: %(name)s is resolved") % words
        sentence = _("%(condition)s. It fired from %(started)s to %(ended)s.") % words
    state = "firing" if incident.ended is None else "resolved"
    return Fact(
        project,
        f"alert:{incident.incident_id}:{state}",
        subject,
        sentence,
        "alerts",
        EventKind.ALERT,
        services=tuple(filter(None, [incident.service])),
        sends_mail=rule.sends_mail,
        tells_subscribed_webhooks=rule.tells_subscribed_webhooks,
        named_webhooks=tuple(rule.named_webhooks),
        comparison="" if incident.ended else build_comparison(incident, condition, now),
    )
