"""Parameters of the page of comparisons that proves a finding, or shows why an alert fires."""

import re
from datetime import datetime, timedelta

from common.time_text import time_text
from findings.models import Finding
from profiles.query import BadFilterPattern, is_expression, matcher

Range = tuple[datetime, datetime]
_BEFORE = timedelta(days=7)


def list_comparison_parameters(row: Finding, function: str = "") -> dict[str, str]:
    """Return the parameters of the comparison of the time after the change with a week before."""
    after = row.change_time, row.found
    before = row.change_time - _BEFORE, row.change_time
    return build_parameters(row.service, row.type, after, before, function)


def build_parameters(
    service: str, type_: str, selected: Range, baseline: Range, function: str = ""
) -> dict[str, str]:
    """Return the parameters; only the stacks of the function, if there is one.

    `function` is a full name or `/an expression/`. One that is too long for a filter is left out.
    """
    parameters = {
        "service": service,
        "type": type_,
        "from": time_text(selected[0]),
        "to": time_text(selected[1]),
        "b.from": time_text(baseline[0]),
        "b.to": time_text(baseline[1]),
    }
    if function:
        pattern = function if is_expression(function) else f"/^{re.escape(function)}$/"
        try:
            matcher(pattern)
        except BadFilterPattern:
            return parameters
        parameters["f"] = f"show:{pattern}"
    return parameters
