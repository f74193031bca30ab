"""Deletion of what findings store about a service or a range."""

from datetime import timedelta

import pytest

from findings.models import Finding, FindingMute, HourlySums, ServiceDetection
from projects.models import Project
from projects.service_erasure import ErasedRange, erase_range, erase_service
from scheduler.models import SampleNeed
from tests.findings.factory import FOUND, add_detection, add_finding

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def fill(project: Project, service: str) -> None:
    add_finding(project, service=service)
    add_detection(project, service=service)
    FindingMute.objects.create(project=project, service=service)
    SampleNeed.objects.create(project=project, service=service, type="CPU", profiles_a_day=2.0)
    HourlySums.objects.create(
        project=project, service=service, type="CPU", start=FOUND - 36 * HOUR, content=b"x"
    )


def count(project: Project, service: str) -> list[int]:
    models = (Finding, ServiceDetection, FindingMute, HourlySums, SampleNeed)
    return [each.objects.filter(project=project, service=service).count() for each in models]


def test_erased_service_has_no_rows_left(project: Project, other_project: Project) -> None:
    for owner, service in ((project, "shop"), (project, "till"), (other_project, "shop")):
        fill(owner, service)
    erase_service(project, "shop")
    assert count(project, "shop") == [0, 0, 0, 0, 0]
    assert count(project, "till") == count(other_project, "shop") == [1, 1, 1, 1, 1]


def test_erased_range_takes_its_findings_and_sums(project: Project) -> None:
    fill(project, "shop")
    change = FOUND - 36 * HOUR
    for start, end in ((change + HOUR * 12, FOUND), (None, change - HOUR)):
        erase_range(ErasedRange(project.pk, "shop", "", start, end))
        assert count(project, "shop") == [1, 1, 1, 1, 1]
    erase_range(ErasedRange(project.pk, "", "WALL", None, FOUND))
    assert count(project, "shop") == [1, 1, 1, 1, 1]
    erase_range(ErasedRange(project.pk, "shop", "CPU", change - HOUR, change + HOUR))
    assert count(project, "shop") == [0, 1, 1, 0, 1]
