"""Celery tasks of the analysis; the sweep finds its work in the database."""

import logging
import time

from celery import shared_task
from django.utils import timezone

from findings import notices
from findings.analysis import analyze_project, find_due_projects
from findings.hourly_sums.storage import last_complete_end
from profiles.compaction.lease import lease
from profiles.query import DeadlinePassed
from projects.models import Project

log = logging.getLogger(__name__)

RUN_SECONDS = 60.0  # of one task, which the sweep starts again: other tasks get their turn


@shared_task(name="findings.tasks.analyze")
def analyze() -> None:
    """Queue a task for each project with services that were not analyzed this half day."""
    for project in find_due_projects(last_complete_end(timezone.now())):
        analyze_one.delay(project)


@shared_task(name="findings.tasks.analyze_one")
def analyze_one(project: int) -> None:
    with lease(f"analyze {project}") as ours:
        row = Project.objects.filter(pk=project).first() if ours else None
        if row is None:
            return
        end, deadline = last_complete_end(timezone.now()), time.monotonic() + RUN_SECONDS
        try:
            for report in analyze_project(row, end, deadline):
                for finding in report.found:
                    log.info("Finding %s: %s", finding.finding_id, finding)
        except DeadlinePassed:
            log.info("The analysis of project %d goes on with the next sweep.", project)


@shared_task(name="findings.tasks.send_notices")
def send_notices() -> None:
    """Tell owners and admins which regressions the latest analyses have found."""
    notices.send_notices()
