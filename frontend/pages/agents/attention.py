"""Sentences that explain why an agent needs attention."""

from datetime import datetime

from django.utils.translation import gettext as _

from frontend.text.units import format_count, format_percent
from projects.models import AgentReport

_LONGEST = 160  # characters of an upload's error message


def look_reason(report: AgentReport, since: datetime) -> str:
    """Explain in one sentence why an agent needs attention.

    Upload errors from before `since` are ignored.
    """
    if report.rejected_at and report.rejected_at >= since:
        return _("had an upload rejected: %(reason)s") % {"reason": report.rejection[:_LONGEST]}
    share = format_percent(report.cpu_share or 0, 1)
    if not report.dropped:
        return _("uses %(share)s of a core for profiling.") % {"share": share}
    values = {
        "share": share,
        "dropped": format_count(report.dropped),
        "all": format_count(report.samples + report.dropped),
    }
    if report.cpu_share is None:
        return _("dropped %(dropped)s of %(all)s samples.") % values
    return (
        _("uses %(share)s of a core for profiling and dropped %(dropped)s of %(all)s samples.")
        % values
    )
