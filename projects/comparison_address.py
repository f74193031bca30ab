"""Parameters of the page that compares two ranges of a service, for links and images."""

import re
from datetime import UTC, datetime

_MAX_PATTERN = 500  # characters of a filter
Range = tuple[datetime, datetime]


def build_parameters(
    service: str, type_: str, selected: Range, baseline: Range, function: str = ""
) -> dict[str, str]:
    """Return the parameters; only the stacks of the function, if there is one.

    `function` is a full name or `/an expression/`. One that is too long for a filter is left out.
    """
    parameters = {
        "service": service,
        "type": type_,
        "from": _format(selected[0]),
        "to": _format(selected[1]),
        "b.from": _format(baseline[0]),
        "b.to": _format(baseline[1]),
    }
    if function:
        is_expression = len(function) > 2 and function[0] == function[-1] == "/"
        pattern = function if is_expression else f"/^{re.escape(function)}$/"
        if len(pattern) <= _MAX_PATTERN:
            parameters["f"] = f"show:{pattern}"
    return parameters


def _format(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
