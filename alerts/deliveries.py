"""Messages about incidents: one when an alert fires, and one when it resolves."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import translation
from django.utils.translation import gettext as _

from alerts import silences
from alerts.conditions.observation import InvalidParameters
from alerts.models import AlertIncident
from alerts.texts import describe_incident, describe_rule
from projects.models import Project

# Messages about older incidents are no news any more.
MAX_AGE = timedelta(days=2)
MAX_MESSAGES = 50  # of one run and project


def announce(project: Project, now: datetime) -> int:
    """Record a message for each incident that began or ended; return their number.

    A silenced rule sends none. If it still fires when the silence ends, its message follows; an
    incident that nobody was told about ends without one. The message and its mark on the incident
    are one transaction: a crash between runs neither loses nor repeats it.
    """
    silenced = silences.find_silenced_rules(project, now)
    is_begun = Q(ended=None, announced=None) & ~Q(rule__in=silenced)
    is_ended = Q(ended__gt=now - MAX_AGE, announced__isnull=False, end_announced=None)
    rows = AlertIncident.objects.filter(is_begun | is_ended, rule__project=project)
    sent = 0
    with translation.override(settings.LANGUAGE_CODE):
        for row in rows.select_related("rule").order_by("started", "pk")[:MAX_MESSAGES]:
            sent += _announce_one(project, row, now, is_silent=row.rule_id in silenced)
    return sent


def _announce_one(
    project: Project, incident: AlertIncident, now: datetime, *, is_silent: bool
) -> bool:
    """Record the message of one incident and mark it; return False if it sends none."""
    mark = {"end_announced": now} if incident.ended else {"announced": now}
    with transaction.atomic():
        unmarked = AlertIncident.objects.filter(pk=incident.pk, **dict.fromkeys(mark))
        if not unmarked.update(**mark) or is_silent:
            return False
        _record(project, incident)
    return True


def _record(project: Project, incident: AlertIncident) -> None:
    rule = incident.rule
    try:
        condition = rule.parse_condition()
    except InvalidParameters:  # of a later version of the server
        return
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
