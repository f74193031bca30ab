"""Usage of projects as annotations of a list."""

from typing import Any

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from projects.models import DayUsage
from projects.usage.day_usage import utc_day


def usage_columns() -> dict[str, Any]:
    """Return profiles and rejections of today, and stored bytes; 0 without any."""
    usage = DayUsage.objects.filter(project=OuterRef("pk"))
    today = usage.filter(day=utc_day())
    sums = usage.order_by().values("project").annotate(sum=Sum("stored_bytes")).values("sum")
    return {
        "profiles": Coalesce(Subquery(today.values("profiles")), 0),
        "rejected": Coalesce(Subquery(today.values("rejected")), 0),
        "stored": Coalesce(Subquery(sums), 0),
    }
