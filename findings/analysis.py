"""Analysis of a project: find changes of its services, and follow those that were found before."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite

from django.db import transaction
from django.utils import timezone

from detection.analysis import detect_changes
from detection.baseline import CONFIRMATION_HOURS
from detection.findings import ChangeCandidate, Check, DetectedChange, Detection
from detection.power import find_detectable_change, max_p
from findings import states
from findings.hourly_sums import storage
from findings.hourly_sums.series import WindowSeries, build_series
from findings.models import (
    OPEN_STATES,
    POINT_DAYS,
    POINT_HOURS,
    AnalysisStatus,
    Direction,
    Finding,
    FindingEventKind,
    FindingMute,
    FindingState,
    ProjectAnalysis,
    ServiceDetection,
)
from profiles.query import (
    DeadlinePassed,
    InvalidQuery,
    QueryContext,
    run_services,
)
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from scheduler.models import SampleNeed

RUNS_A_DAY = 2
FALSE_FINDINGS_A_MONTH = 1.0  # of a project
# Changes of related functions at most so far apart have one cause; later runs see them too.
SAME_CAUSE = timedelta(hours=12)
NEEDED_CHANGE = 0.05  # that adaptive capture rates aim to find
TYPICAL_SHARE = 0.01  # of the function for which a detectable change is stated
_RESOLVED_PART = 0.1  # of the change: below it is over
_ESCALATED_PART = 1.75
_RECENT = timedelta(days=2)  # a service without profiles for so long is not analyzed
_MAX_PROBLEM = 500


@dataclass(frozen=True, slots=True)
class SeriesReport:
    """Outcome for one service and profile type."""

    service: str
    type: ProfileType
    status: AnalysisStatus
    found: tuple[Finding, ...] = ()
    ruled_out: tuple[ChangeCandidate, ...] = ()
    problem: str = ""


def analyze_project(
    project: Project, end: datetime, deadline: float | None = None
) -> Iterator[SeriesReport]:
    """Analyze each service and type with profiles in the two days before `end`.

    `end` is a midnight or noon of UTC. A series that was analyzed up to `end` is skipped, so that a
    run that was interrupted goes on where it stopped. Raise DeadlinePassed at the deadline, in
    seconds of time.monotonic().
    """
    context = QueryContext(project.pk, project.project_id, deadline)
    pairs = _list_series(context, end)
    done = set(
        ServiceDetection.objects.filter(project=project, time__gte=end).values_list(
            "service", "type"
        )
    )
    series_a_day = 2 * storage.MAX_FUNCTIONS * max(len(pairs), 1)
    largest_p = max_p(series_a_day, RUNS_A_DAY, FALSE_FINDINGS_A_MONTH)
    for service, type_ in pairs:
        if (service, str(type_)) not in done:
            context.check()
            yield _analyze_series(context, project, service, type_, end, largest_p)
    storage.delete_before(project.pk, end - storage.WINDOW - timedelta(days=1))
    ProjectAnalysis.objects.update_or_create(
        project=project, defaults={"end": end, "finished": timezone.now()}
    )


def find_due_projects(end: datetime) -> list[int]:
    """Return the pks of projects that have recent deployments and no analysis up to `end`."""
    recent = Deployment.objects.filter(last_seen__gte=end - _RECENT).values("project")
    done = ProjectAnalysis.objects.filter(end__gte=end).values("project")
    rows = Project.objects.filter(pk__in=recent).exclude(pk__in=done)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _list_series(context: QueryContext, end: datetime) -> list[tuple[str, ProfileType]]:
    rows = run_services(context, end - _RECENT, end).rows
    return [(row.service, type_) for row in rows if row.profiles for type_ in row.types]


def _analyze_series(
    context: QueryContext,
    project: Project,
    service: str,
    type_: ProfileType,
    end: datetime,
    largest_p: float,
) -> SeriesReport:
    """Analyze one series; an error of its profiles is its status, and ends no other analysis."""
    try:
        half_days = storage.load_window(context, service, type_, end)
    except DeadlinePassed:
        raise
    except InvalidQuery as error:
        problem = str(error)[:_MAX_PROBLEM]
        _store_status(project, service, type_, end, AnalysisStatus.FAILED, problem=problem)
        return SeriesReport(service, type_, AnalysisStatus.FAILED, problem=problem)
    window = build_series(service, type_, end, half_days)
    detection = Detection((), (), None)
    if window is not None:
        detection = detect_changes(window.series, len(window.series.profiles), largest_p)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        found: tuple[Finding, ...] = ()
        status = AnalysisStatus.LITTLE_HISTORY
        if window is not None:
            _follow_findings(project, window, end)
            found = _store_findings(project, window, detection, end)
            status = AnalysisStatus.ANALYZED if detection.is_analyzed else status
        _store_status(project, service, type_, end, status, window, detection, largest_p)
    return SeriesReport(service, type_, status, found, detection.dropped)


def _store_status(
    project: Project,
    service: str,
    type_: ProfileType,
    end: datetime,
    status: AnalysisStatus,
    window: WindowSeries | None = None,
    detection: Detection | None = None,
    largest_p: float = 0.0,
    problem: str = "",
) -> None:
    fields: dict[str, object] = {"time": end, "status": status, "problem": problem}
    if window is not None and detection is not None:
        series = window.series
        baseline = detection.baseline
        with_profiles = series.profiles.nonzero()[0]
        if len(with_profiles):
            fields["first_hour"] = _hour_time(series.first_hour + int(with_profiles[0]))
        fields["functions"] = len(series.functions)
        fields["profiles_a_day"] = float(series.profiles[-24:].sum())
        fields["detectable"] = (
            find_detectable_change(baseline, TYPICAL_SHARE, largest_p) if baseline else None
        )
        fields["ruled_out"] = dict(Counter(str(each.dropped) for each in detection.dropped))
    detection_row, _is_new = ServiceDetection.objects.update_or_create(
        project=project, service=service, type=type_, defaults=fields
    )
    _store_need(detection_row)


def _store_need(detection: ServiceDetection) -> None:
    """Store how many profiles a day would find changes of NEEDED_CHANGE, if that is known.

    The detectable change falls with the square root of the profiles, so that the need does not
    depend on the present capture rate.
    """
    if detection.status != AnalysisStatus.ANALYZED or not detection.detectable:
        return
    need = detection.profiles_a_day * (detection.detectable / NEEDED_CHANGE) ** 2
    if isfinite(need):
        SampleNeed.objects.update_or_create(
            project=detection.project,
            service=detection.service,
            type=detection.type,
            defaults={"profiles_a_day": need},
        )


def _store_findings(
    project: Project, window: WindowSeries, detection: Detection, end: datetime
) -> tuple[Finding, ...]:
    """Store the changes that are new, and add those with the cause of a stored one to it."""
    mutes = FindingMute.objects.filter(project=project, service=window.series.service)
    earlier = list(
        Finding.objects.filter(
            project=project,
            service=window.series.service,
            type=window.series.type,
            change_time__gte=end - storage.WINDOW,
        )
    )
    found = []
    for change in detection.findings:
        same = _find_same_cause(window, change, earlier)
        if same is not None:
            _merge_into(same, change)
            continue
        finding = _build_finding(project, window, change, end)
        is_muted = any(_is_muted(finding, mute) for mute in mutes)
        if is_muted:
            finding.state, finding.ended = FindingState.MUTED, end
        finding.save(force_insert=True)
        states.add_event(finding, FindingEventKind.FOUND, end)
        earlier.append(finding)
        found.append(finding)
    return tuple(found)


def _is_muted(finding: Finding, mute: FindingMute) -> bool:
    is_of_function = mute.function in {"", finding.function}
    return is_of_function and mute.version in {"", finding.version}


def _find_same_cause(
    window: WindowSeries, change: DetectedChange, earlier: Sequence[Finding]
) -> Finding | None:
    """Return the stored finding of the same break point: of this function, or along its stacks."""
    series, function = window.series, change.candidate.function
    time = _hour_time(change.change_hour)
    for finding in earlier:
        is_near = abs(finding.change_time - time) <= SAME_CAUSE
        if not is_near or (finding.change > 0) != (change.change > 0):
            continue
        for other, symbol in enumerate(series.functions):
            is_finding = symbol.name == finding.function and symbol.file == finding.file
            if is_finding and (
                series.ancestors[function, other] or series.ancestors[other, function]
            ):
                return finding
    return None


def _merge_into(finding: Finding, change: DetectedChange) -> None:
    name = change.candidate.name
    if name not in {finding.function, *finding.merged}:
        finding.merged = sorted([*finding.merged, name])
        finding.save(update_fields=["merged"])


def _build_finding(
    project: Project, window: WindowSeries, change: DetectedChange, end: datetime
) -> Finding:
    series, candidate = window.series, change.candidate
    start = change.change_hour - series.first_hour
    profiles = max(float(series.profiles[:start].sum()), 1.0)
    return Finding(
        project=project,
        service=series.service,
        type=series.type,
        unit=window.unit,
        function=candidate.name,
        file=series.functions[candidate.function].file,
        is_self=candidate.is_self,
        direction=Direction.REGRESSION if change.change > 0 else Direction.IMPROVEMENT,
        change_time=_hour_time(change.change_hour),
        found=end,
        change=change.change,
        low=change.low,
        high=change.high,
        before=change.before,
        after=change.after,
        profile_total=float(series.totals[:start].sum()) / profiles,
        duration_ns=window.mean_duration_ns,
        p=change.p,
        rank=change.rank,
        profiles_before=change.profiles_before,
        profiles_after=change.profiles_after,
        version_before=change.version_before or "",
        version=change.version or "",
        merged=list(change.merged),
        points=_list_points(window, candidate.function, is_self=candidate.is_self),
        points_end=end,
        checks=[_describe_check(check) for check in candidate.checks],
    )


def _follow_findings(project: Project, window: WindowSeries, end: datetime) -> None:
    """Measure the open findings of a series again: resolve those that are over, escalate others."""
    series = window.series
    day = slice(len(series.profiles) - CONFIRMATION_HOURS, len(series.profiles))
    profiles = float(series.profiles[day].sum())
    if not profiles:
        return
    indexes = {(each.name, each.file): index for index, each in enumerate(series.functions)}
    total = float(series.totals[day].sum()) / profiles
    open_findings = Finding.objects.filter(
        project=project,
        service=series.service,
        type=series.type,
        state__in=OPEN_STATES,
        found__lt=end,
    )
    for finding in open_findings:
        index = indexes.get((finding.function, finding.file))
        sums = series.self_sums if finding.is_self else series.total_sums
        value = 0.0 if index is None else float(sums[index, day].sum()) / profiles
        # The cost before, at the present load: that of everything else.
        rest = max(finding.profile_total - finding.before, 0.0)
        load = max(total - value, 0.0) / rest if rest > 0 else 1.0
        finding.latest_change = value - finding.before * load
        if index is not None:
            finding.points = _list_points(window, index, is_self=finding.is_self)
            finding.points_end = end
        finding.save(update_fields=["latest_change", "points", "points_end"])
        part = finding.latest_change / finding.change
        if part < _RESOLVED_PART:
            states.resolve_by_itself(finding, end)
        elif part > _ESCALATED_PART and finding.escalated is None:
            states.escalate(finding, end)


def _list_points(window: WindowSeries, function: int, *, is_self: bool) -> list[float | None]:
    """Return the function's values per profile over the last days, by POINT_HOURS."""
    series, hours = window.series, POINT_DAYS * 24
    row = (series.self_sums if is_self else series.total_sums)[function, -hours:]
    sums = row.reshape(-1, POINT_HOURS).sum(axis=1)
    profiles = series.profiles[-hours:].reshape(-1, POINT_HOURS).sum(axis=1)
    return [
        float(f"{total / count:.4g}") if count else None
        for total, count in zip(sums.tolist(), profiles.tolist(), strict=True)
    ]


def _describe_check(check: Check) -> dict[str, object]:
    """Return the fields of a check in JSON, which has no infinite numbers."""
    evidence = {name: float(value) for name, value in check.evidence.items() if isfinite(value)}
    return {
        "stage": str(check.stage),
        "passed": bool(check.passed),
        "evidence": evidence,
        "functions": list(check.functions),
    }


def _hour_time(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)
