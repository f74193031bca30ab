"""Filter of the settings in error reports, which FLAMEWATCH_DEBUG shows."""

import re

from django.views.debug import SafeExceptionReporterFilter


class ErrorReportFilter(SafeExceptionReporterFilter):
    """Django's filter, which hides passwords and keys, and here also URLs with passwords."""

    hidden_settings = re.compile(
        f"{SafeExceptionReporterFilter.hidden_settings.pattern}|_URL|LOCATION", re.IGNORECASE
    )
