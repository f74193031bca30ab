"""`flamewatch analyze`: look for changes of services now, and print what was found."""

import json
from argparse import Namespace
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from findings.analysis import SeriesReport, analyze_project
from findings.hourly_sums.storage import last_complete_end
from findings.models import AnalysisStatus, Finding
from profiler_site.cli.command import CommandFailed
from profiles.compaction.lease import lease
from projects.models import Project


def run(options: Namespace) -> int:
    end = last_complete_end(options.at or timezone.now())
    reports = {row: _analyze(row, end) for row in _find_projects(options.project)}
    if options.json:
        print(json.dumps({"end": end.isoformat(), "projects": _describe(reports)}))
        return 0
    print(f"Profiles before {end:%Y-%m-%d %H:%M} UTC.")
    for project, series in reports.items():
        print(f"{project.project_id}: {_count_services(series)} analyzed.")
        for report in series:
            _print_report(report)
    return 0


def _find_projects(project_id: str | None) -> QuerySet[Project]:
    rows = Project.objects.order_by("project_id")
    if project_id is None:
        return rows
    found = rows.filter(project_id=project_id)
    if not found:
        raise CommandFailed(f"No project {project_id}.")
    return found


def _analyze(project: Project, end: datetime) -> list[SeriesReport]:
    with lease(f"analyze {project.pk}") as ours:
        if not ours:
            raise CommandFailed(
                f"Another process analyzes {project.project_id} at the moment. Try again later."
            )
        return list(analyze_project(project, end))


def _print_report(report: SeriesReport) -> None:
    name = f"  {report.service} {report.type}"
    if report.status is not AnalysisStatus.ANALYZED:
        print(f"{name}: {report.status.label.lower()}{report.problem and f' ({report.problem})'}")
    for finding in report.found:
        version = f", since version {finding.version}" if finding.version else ""
        print(
            f"{name}: {finding.direction} {finding.finding_id} of {finding.function}, "
            f"{_format_relative(finding)} since {finding.change_time:%Y-%m-%d %H:%M} UTC{version}"
        )
    for candidate in report.ruled_out:
        print(f"{name}: {candidate.name} ruled out by {candidate.dropped}")


def _format_relative(finding: Finding) -> str:
    return "new" if finding.relative is None else f"{finding.relative:+.1%}"


def _count_services(series: list[SeriesReport]) -> str:
    count = sum(report.status is AnalysisStatus.ANALYZED for report in series)
    return f"{count} of {len(series)} profile types of services"


def _describe(reports: dict[Project, list[SeriesReport]]) -> dict[str, object]:
    return {
        project.project_id: [
            {
                "service": report.service,
                "type": str(report.type),
                "status": str(report.status),
                "problem": report.problem,
                "found": [_describe_finding(finding) for finding in report.found],
                "ruled_out": [
                    {"function": each.name, "check": str(each.dropped)} for each in report.ruled_out
                ],
            }
            for report in series
        ]
        for project, series in reports.items()
    }


def _describe_finding(finding: Finding) -> dict[str, object]:
    return {
        "id": finding.finding_id,
        "direction": finding.direction,
        "function": finding.function,
        "change": finding.change,
        "relative": finding.relative,
        "unit": finding.unit,
        "since": finding.change_time.isoformat(),
        "version": finding.version,
    }
