"""Analysis of stored profiles: planted changes are found, and followed."""

from datetime import datetime, timedelta

import pytest

from findings import states
from findings.analysis import analyze_project, find_due_projects
from findings.models import (
    AnalysisStatus,
    Finding,
    FindingEventKind,
    FindingState,
    HourlySums,
    ServiceDetection,
)
from profiles.query import DeadlinePassed
from projects.audit import NO_CLIENT
from projects.models import Project, User
from scheduler.models import SampleNeed
from tests.findings.stored_services import (
    CHANGE_TIME,
    CHANGED,
    END,
    PlantedChange,
    store_service,
)

HALF_DAY = timedelta(hours=12)
RISE = PlantedChange(1.3)


def analyze(project: Project, end: datetime = END) -> list[Finding]:
    return [finding for report in analyze_project(project, end) for finding in report.found]


@pytest.mark.slow
def test_profiles_that_would_find_5_percent_do_not_depend_on_the_capture_rate(
    project: Project,
) -> None:
    store_service(project, "shop", PlantedChange())
    analyze(project)
    detection = ServiceDetection.objects.get()
    need = SampleNeed.objects.get(project=project, service="shop", type=detection.type)
    assert detection.detectable is not None
    assert need.profiles_a_day == pytest.approx(
        detection.profiles_a_day * (detection.detectable / 0.05) ** 2
    )
    analyze(project, END + HALF_DAY)
    assert SampleNeed.objects.count() == 1


def test_planted_rise_is_found_with_its_function_version_and_size(project: Project) -> None:
    store_service(project, "shop", RISE)
    store_service(project, "quiet", PlantedChange())
    (finding,) = analyze(project)
    assert (finding.service, finding.function, finding.version, finding.version_before) == (
        *("shop", CHANGED),
        *("2", "1"),
    )
    assert finding.is_self
    assert finding.direction == "regression"
    assert finding.state == FindingState.NEW
    assert abs(finding.change_time - CHANGE_TIME) <= timedelta(hours=2)
    assert finding.relative == pytest.approx(0.3, abs=0.03)
    assert finding.low < finding.before * 0.3 < finding.high
    assert finding.unit == "nanoseconds"
    assert finding.duration_ns == 10 * 10**9
    assert [each.kind for each in finding.events.all()] == [FindingEventKind.FOUND]
    assert {check["stage"] for check in finding.checks} >= {"significance", "cost_shift"}
    assert len(finding.points) == 14 * 24 / 3
    assert max(finding.points[:-12]) < max(finding.points)
    detections = ServiceDetection.objects.filter(project=project)
    assert {(each.service, each.status) for each in detections} == {
        ("quiet", AnalysisStatus.ANALYZED),
        ("shop", AnalysisStatus.ANALYZED),
    }
    detectable = [each.detectable for each in detections]
    assert all(each is not None and 0.001 < each < 0.3 for each in detectable)


@pytest.mark.slow
def test_planted_fall_is_an_improvement(project: Project) -> None:
    store_service(project, "shop", PlantedChange(0.7))
    (finding,) = analyze(project)
    assert (finding.function, finding.direction) == (CHANGED, "improvement")
    assert finding.relative == pytest.approx(-0.3, abs=0.03)


def test_change_is_found_once_in_later_runs(project: Project) -> None:
    store_service(project, "shop", RISE)
    found = [analyze(project, END + number * HALF_DAY - HALF_DAY) for number in range(2)]
    assert [len(each) for each in found] in ([1, 0], [0, 1])
    assert Finding.objects.count() == 1


@pytest.mark.slow
def test_finding_resolves_when_its_change_is_over(project: Project) -> None:
    over = END + timedelta(hours=6)
    store_service(project, "shop", PlantedChange(1.3, end=over), end=END + timedelta(days=2))
    (finding,) = analyze(project)
    analyze(project, END + HALF_DAY)
    finding.refresh_from_db()
    assert finding.state == FindingState.NEW
    analyze(project, END + timedelta(days=2))
    finding.refresh_from_db()
    assert finding.state == FindingState.RESOLVED
    assert finding.latest_change == pytest.approx(0, abs=finding.change / 10)
    assert finding.events.latest("pk").kind == FindingEventKind.RESOLVED


@pytest.mark.slow
def test_muted_function_gives_muted_finding(project: Project, alice: User) -> None:
    store_service(project, "shop", RISE)
    (finding,) = analyze(project)
    states.mute(finding, actor=alice, origin=NO_CLIENT)
    Finding.objects.all().delete()
    ServiceDetection.objects.all().delete()
    (again,) = analyze(project)
    assert again.state == FindingState.MUTED


def test_few_days_are_too_little_history(project: Project) -> None:
    store_service(project, "shop", PlantedChange(), days=3)
    assert analyze(project) == []
    detection = ServiceDetection.objects.get(project=project)
    assert detection.status == AnalysisStatus.LITTLE_HISTORY
    assert detection.first_hour == END - timedelta(days=3)


def test_interrupted_run_goes_on_with_what_it_stored(project: Project) -> None:
    store_service(project, "shop", PlantedChange(), days=2)
    with pytest.raises(DeadlinePassed):
        list(analyze_project(project, END, deadline=0.0))
    assert find_due_projects(END) == [project.pk]
    analyze(project)
    rows = HourlySums.objects.count()
    assert rows == 46
    assert find_due_projects(END) == []
    assert find_due_projects(END + HALF_DAY) == [project.pk]
    analyze(project, END + HALF_DAY)
    assert HourlySums.objects.count() == rows + 1


def test_run_for_the_same_half_day_analyzes_nothing_again(project: Project) -> None:
    store_service(project, "shop", PlantedChange(), days=2)
    assert len(list(analyze_project(project, END))) == 1
    assert list(analyze_project(project, END)) == []
