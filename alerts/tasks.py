"""Celery tasks of alert rules; each run finds its work in the database."""

import logging
import time
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from alerts import deliveries
from alerts.evaluation import evaluate_rules, find_projects
from alerts.models import AlertIncident, AlertSilence
from profiles.compaction.lease import lease
from profiles.query import DeadlinePassed
from projects.models import Project

log = logging.getLogger(__name__)

RUN_SECONDS = 20.0  # of one project; the next run goes on with the rules that are left
EXPIRY_SECONDS = 60.0  # then the next run has queued it again
INCIDENT_RETENTION = timedelta(days=400)


@shared_task(name="alerts.tasks.evaluate")
def evaluate() -> None:
    """Queue a task for each project with alert rules."""
    for project in find_projects(timezone.now()):
        evaluate_one.apply_async((project,), expires=EXPIRY_SECONDS)


@shared_task(name="alerts.tasks.evaluate_one")
def evaluate_one(project: int) -> None:
    """Evaluate the rules of a project, and tell its people about new and ended incidents."""
    with lease(f"alerts {project}") as ours:
        row = Project.objects.filter(pk=project, deletion_due=None).first() if ours else None
        if row is None:
            return
        now, deadline = timezone.now(), time.monotonic() + RUN_SECONDS
        try:
            evaluate_rules(row, now, deadline)
        except DeadlinePassed:
            log.info("The alert rules of project %d go on with the next run.", project)
        deliveries.announce(row, now)


@shared_task(name="alerts.tasks.purge_incidents")
def purge_incidents() -> None:
    """Delete incidents and silences that ended INCIDENT_RETENTION ago."""
    before = timezone.now() - INCIDENT_RETENTION
    AlertIncident.objects.filter(ended__lt=before).delete()
    AlertSilence.objects.filter(until__lt=before).delete()
