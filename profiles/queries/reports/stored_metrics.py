"""Metrics of the stored profiles by service and type, from rows alone."""

from datetime import datetime

from django.db.models import Max

from profiles.engine.metrics import Metric, canonical
from profiles.models import Block, Profile
from profiles.queries.context import QueryContext
from profiles.queries.reports.block_counts import cut_off, whole
from projects.profile_types import ProfileType

Found = dict[tuple[str, ProfileType], tuple[Metric, ...]]


def run_stored_metrics(context: QueryContext, start: datetime, end: datetime) -> Found:
    """Return the metrics of each service and type with profiles in the range, sorted.

    An hour block that lies partly in the range counts even if its profiles lie outside. Of the
    head, the newest profile of each service and type counts.
    """
    project = context.project
    found: dict[tuple[str, ProfileType], dict[Metric, None]] = {}
    with context.snapshot:
        blocks = Block.objects.filter(
            whole(project, start, end) | cut_off(project, start, end)
        ).order_by()
        stored = blocks.values_list("service", "type", "summary__metrics").distinct()
        for service, type_, metrics in stored:
            named = (canonical(type_, (Metric(name, unit),)) for name, unit, _ in metrics)
            own = found.setdefault((service, ProfileType(type_)), {})
            own.update((metric, None) for each in named for metric in each)
        context.check()
        rows = Profile.objects.filter(project=project, time__gte=start, time__lt=end).order_by()
        newest = rows.values("service", "type").annotate(newest=Max("pk")).values("newest")
        head = Profile.objects.filter(pk__in=newest).order_by()
        for service, type_, totals in head.values_list("service", "type", "totals"):
            named_row = canonical(type_, tuple(Metric(name, unit) for name, unit, _ in totals))
            found.setdefault((service, ProfileType(type_)), {}).update(dict.fromkeys(named_row))
    context.check()
    return {key: tuple(sorted(found[key])) for key in sorted(found)}
