"""Views that prove a finding."""

from datetime import timedelta

from findings.models import Finding
from projects.comparison_address import build_parameters

_BEFORE = timedelta(days=7)


def list_comparison_parameters(row: Finding, function: str = "") -> dict[str, str]:
    """Return the parameters of the comparison of the time after the change with a week before."""
    after = row.change_time, row.found
    before = row.change_time - _BEFORE, row.change_time
    return build_parameters(row.service, row.type, after, before, function)
