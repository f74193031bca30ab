"""E-mails to owners and admins about the regressions of the latest analysis."""

from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from findings.evidence import list_comparison_parameters
from findings.models import Direction, Finding, FindingState, ProjectAnalysis
from projects import notices
from projects.models import EventKind
from projects.notices import Fact

_MOST_NAMED = 5


def send_notices() -> int:
    """Send an e-mail for each finished analysis with new or escalated regressions, once.

    Return how many analyses were new. May block for long.
    """
    if not notices.has_channel():
        return 0
    now, sent = timezone.now(), 0
    with translation.override(settings.LANGUAGE_CODE):
        for fact in _list_facts(now):
            sent += notices.send_once(fact, now)
    return sent


def _list_facts(now: datetime) -> list[Fact]:
    """Return the facts of analyses whose findings nobody has acknowledged or muted yet."""
    analyses = ProjectAnalysis.objects.filter(
        finished__gt=now - notices.MAX_AGE, project__deletion_due=None
    )
    facts = []
    for analysis in analyses.select_related("project").order_by("pk"):
        rows = Finding.objects.filter(
            Q(found=analysis.end) | Q(escalated=analysis.end),
            project=analysis.project,
            state=FindingState.NEW,
            direction=Direction.REGRESSION,
        )
        if found := list(rows.order_by(F("rank").desc(), "pk")):
            facts.append(_describe(analysis, found))
    return facts


def _describe(analysis: ProjectAnalysis, found: list[Finding]) -> Fact:
    project, number = analysis.project, len(found)
    values = {"project": project.name, "number": number}
    subject = ngettext(
        "%(project)s: %(number)d new regression",
        "%(project)s: %(number)d new regressions",
        number,
    )
    named = "; ".join(_name(row) for row in found[:_MOST_NAMED])
    more = number - _MOST_NAMED
    if more > 0:
        named = _("%(named)s; and %(more)d more") % {"named": named, "more": more}
    return Fact(
        project=project,
        name=f"findings:{analysis.end:%Y-%m-%dT%H}",
        subject=subject % values,
        sentence=_("These functions cost more than before: %(named)s.") % {"named": named},
        page="findings",
        kind=EventKind.FINDING,
        services=tuple(sorted({row.service for row in found[:_MOST_NAMED]})),
        comparison=urlencode(list_comparison_parameters(found[0], found[0].function)),
    )


def _name(row: Finding) -> str:
    """Return a regression in words: `Rule.matches of checkout (CPU), +145 % since 2.31.0`."""
    change = _("new") if row.relative is None else f"{row.relative:+.0%}"
    values = {
        "function": row.function,
        "service": row.service,
        "type": row.type,
        "change": change,
        "version": row.version,
    }
    if row.version:
        return _("%(function)s of %(service)s (%(type)s), %(change)s since %(version)s") % values
    return _("%(function)s of %(service)s (%(type)s), %(change)s") % values
