"""Delete what findings store about a service, or about a time range of it."""

from findings.hourly_sums.half_day import HALF_DAY
from findings.models import Finding, FindingMute, HourlySums, ServiceDetection
from projects.models import Project
from projects.service_erasure import ErasedRange
from scheduler.models import SampleNeed


def erase_service(project: Project, service: str) -> None:
    Finding.objects.filter(project=project, service=service).delete()
    FindingMute.objects.filter(project=project, service=service).delete()
    HourlySums.objects.filter(project=project, service=service).delete()
    ServiceDetection.objects.filter(project=project, service=service).delete()
    SampleNeed.objects.filter(project=project, service=service).delete()


def erase_range(erased: ErasedRange) -> None:
    """Delete the findings of changes in the range, and the sums that have its profiles."""
    given = {"service": erased.service, "type": erased.type}
    restrictions = {name: value for name, value in given.items() if value}
    findings = Finding.objects.filter(project=erased.project, **restrictions)
    sums = HourlySums.objects.filter(project=erased.project, **restrictions)
    findings, sums = findings.filter(change_time__lt=erased.end), sums.filter(start__lt=erased.end)
    if erased.start is not None:
        findings = findings.filter(change_time__gte=erased.start)
        sums = sums.filter(start__gt=erased.start - HALF_DAY)
    findings.delete()
    sums.delete()
