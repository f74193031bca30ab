"""Resolution of a page's parameters to a service, type and metric of a project."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils.translation import gettext as _

from endpoints.params.selection import TimeRange
from frontend.params.page_params import PageParams, ParsedParams
from frontend.params.restrictions import OF_SNAPSHOT, restrict
from frontend.text.time_ranges import days_name
from profiles.query import (
    Coverage,
    GroupKind,
    Metric,
    OptionsResult,
    ProfileSelection,
    QueryContext,
    SavedTree,
    SavedTreeInfo,
    Selection,
    ServiceName,
    get_saved_tree,
    run_options,
    run_profiles,
    run_service_names,
)
from projects.models import Project
from projects.profile_types import ProfileType
from projects.usage.limits import get_limits

DEADLINE_SECONDS = 20.0
# Clocks of browsers and servers differ; retention deletes whole hours.
_CLOCK_ERROR, _RETENTION_STEP = timedelta(minutes=2), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class PageQuery:
    context: QueryContext
    project: Project
    params: PageParams  # with the service and type that are shown
    selection: Selection
    services: Sequence[ServiceName]
    notices: tuple[str, ...]
    now: datetime
    snapshot: SavedTreeInfo | None = None  # shown instead of profiles

    @property
    def profile_selection(self) -> ProfileSelection:
        """Return the selection of a page whose parameters have no saved tree."""
        if isinstance(self.selection, SavedTree):
            raise TypeError("The parameters of this page select a saved tree.")
        return self.selection


def sort_by_last_seen(services: Sequence[ServiceName]) -> list[ServiceName]:
    """Sort services by the time they were last seen, latest first.

    Services without a profile come last.
    """
    return sorted(services, key=lambda row: (bool(row.types), row.last_seen), reverse=True)


def query_context(request: HttpRequest, project: Project) -> QueryContext:
    """Return the context of a page's queries in a project that the user may read.

    Their common deadline is DEADLINE_SECONDS from now. Requests that `PageHandler` runs on the
    threads of queries bring a context, which ends the queries once the browser is gone.
    """
    given: QueryContext | None = getattr(request, "query_context", None)
    context = given or QueryContext(project.pk)
    return context.for_project(project.pk, project.project_id, DEADLINE_SECONDS)


def resolve_page_query(
    context: QueryContext, project: Project, reading: ParsedParams, now: datetime
) -> PageQuery | None:
    """Resolve the parameters; None if the project has no service.

    Raise `DeadlinePassed`, and `SavedTreeNotFound`.
    """
    services = run_service_names(context)
    if reading.params.snapshot:
        return _snapshot_query(context, project, reading, services, now)
    found = _service_and_type(reading.params, services)
    if found is None:
        return None
    service, type_ = found
    params = replace(reading.params, service=service, type=type_)
    selection = params.selection(project.pk, service, type_, now)
    notices = (*reading.notices, *range_notices(project, params.range, now))
    return PageQuery(context, project, params, selection, services, notices, now)


def range_notices(project: Project, range: TimeRange, now: datetime) -> tuple[str, ...]:
    """Say that a range lies in the future, or begins before the project's retention."""
    start, end = range.bounds(now)
    days = get_limits(project.pk).retention_days
    if start >= now:
        return (_("This range is in the future. Choose one that starts before now."),)
    if end > now + _CLOCK_ERROR:
        return (_("This range ends in the future; it has no profiles after now yet."),)
    oldest = get_oldest_time(now, days) - _RETENTION_STEP
    if end < oldest:
        sentence = _("Profiles are kept for %(days)s; this whole range is older.")
    elif start < oldest:
        sentence = _("Profiles are kept for %(days)s; this range starts earlier.")
    else:
        return ()
    return (sentence % {"days": days_name(days)},)


def get_oldest_time(now: datetime, retention_days: int) -> datetime:
    """Return the time before which profiles have been deleted."""
    try:
        return now - timedelta(days=retention_days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)


def _snapshot_query(
    context: QueryContext,
    project: Project,
    reading: ParsedParams,
    services: Sequence[ServiceName],
    now: datetime,
) -> PageQuery:
    """Resolve the parameters of a page with a snapshot, which has its own type and range."""
    info = get_saved_tree(context, reading.params.snapshot)
    params = apply_snapshot(replace(reading.params, type=info.type), info)
    if not params.service:
        params = replace(params, service=info.service or info.title)
    selection = params.selection(project.pk, params.service, info.type, now)
    return PageQuery(context, project, params, selection, services, reading.notices, now, info)


def apply_snapshot(params: PageParams, info: SavedTreeInfo) -> PageParams:
    """Return the parameters with the range of the snapshot, which cannot be restricted."""
    return replace(
        restrict(params, OF_SNAPSHOT),
        span=info.end - info.start,
        end=info.end,
        split=params.split if params.split and params.split.kind is GroupKind.SAMPLE else None,
    )


def load_options(context: QueryContext, selection: Selection) -> OptionsResult:
    if isinstance(selection, SavedTree):
        metrics = get_saved_tree(context, selection.id).metrics
        return OptionsResult(zones=(), versions=(), labels={}, weights=(), metrics=metrics)
    return run_options(context, selection.service, selection.type, selection.start, selection.end)


def find_metric(context: QueryContext, selection: Selection, name: str) -> Metric | None:
    """Return the named metric if the selected profiles have it; None stands for the default."""
    return match_metric(name, load_options(context, selection)) if name else None


def match_metric(name: str, options: OptionsResult) -> Metric | None:
    """Return the named metric if the selected profiles have it; None stands for the default."""
    return next((metric for metric in options.metrics if name and metric.name == name), None)


def metric_notice(name: str, found: Metric | None) -> tuple[str, ...]:
    if not name or found:
        return ()
    sentence = _("These profiles have no metric “%(metric)s”; showing the default one.")
    return (sentence % {"metric": name[:60]},)


def _service_and_type(
    params: PageParams, services: Sequence[ServiceName]
) -> tuple[str, ProfileType] | None:
    """Return the requested service and type.

    The default service is the one seen last, the default type the first that it has.
    """
    if not services and not params.service:
        return None
    rows = {row.service: row for row in services}
    service = params.service or sort_by_last_seen(services)[0].service
    types = rows[service].types if service in rows else ()
    first = next((each for each in ProfileType if each in types), ProfileType.CPU)
    return service, params.type or first


def load_version_tag(page_query: PageQuery) -> str:
    """Return the current version tag of the selection without merging its profiles."""
    if page_query.snapshot:
        return snapshot_version_tag(page_query.snapshot)
    return version_tag(
        run_profiles(page_query.context, page_query.profile_selection, size=1).coverage
    )


def snapshot_version_tag(info: SavedTreeInfo) -> str:
    return f"{info.profiles}-{info.end.timestamp():.0f}"


def version_tag(coverage: Coverage) -> str:
    """Return a version tag that changes when the set of selected profiles does."""
    return f"{coverage.profiles}-{coverage.last.timestamp() if coverage.last else 0:.0f}"
