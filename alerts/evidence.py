"""Views that show why a rule fires."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from alerts.conditions.against_last_week import WEEK, WeekCondition
from alerts.conditions.finding import FindingCondition
from alerts.conditions.registry import Condition, get_hold_times
from alerts.conditions.value import ValueCondition
from alerts.models import AlertIncident, AlertRule
from findings.evidence import build_parameters, list_comparison_parameters
from findings.models import Finding

_SHORTEST = timedelta(minutes=5)


def compare_times(
    rule: AlertRule, condition: ValueCondition | WeekCondition, start: datetime, end: datetime
) -> dict[str, str]:
    """Return the parameters that compare the time in which a rule fires with the one before.

    The verdict had to hold before the rule fired: that time counts. A rule against the week before
    is compared with that week.
    """
    start = min(start - get_hold_times(condition).fire, end - _SHORTEST)
    shift = WEEK if isinstance(condition, WeekCondition) else end - start
    baseline = start - shift, end - shift
    return build_parameters(rule.service, rule.type, (start, end), baseline, rule.function)


def build_comparison(incident: AlertIncident, condition: Condition, now: datetime) -> str:
    """Return the query of the comparison that shows an incident; "" if there is none to show."""
    end = incident.ended or now
    if isinstance(condition, ValueCondition | WeekCondition):
        return urlencode(compare_times(incident.rule, condition, incident.started, end))
    if isinstance(condition, FindingCondition):
        rows = Finding.objects.filter(project=incident.rule.project_id, finding_id=incident.subject)
        if finding := rows.first():
            return urlencode(list_comparison_parameters(finding, finding.function))
    return ""
