"""Run deletion jobs to their end, with the waits that the task makes."""

import time
from datetime import datetime, timedelta

from django.utils import timezone

from profiles.compaction.blob_sweep import DEAD_FOR
from profiles.deletion.runner import run_job
from profiles.models import DeletionJob, DeletionState

MAX_SWEEPS = 10


def run_pass(job: DeletionJob, now: datetime | None = None, seconds: float = 60.0) -> datetime:
    """Run a job at its time until it has to wait or ends; return the time of that."""
    now = now or max(job.due, timezone.now()) + timedelta(minutes=1)
    while run_job(job.pk, now, time.monotonic() + seconds):
        pass
    job.refresh_from_db()
    return now


def run_to_end(job: DeletionJob) -> None:
    now = run_pass(job)
    for _ in range(MAX_SWEEPS):
        if job.state == DeletionState.DONE:
            return
        now += DEAD_FOR + timedelta(minutes=1)
        run_pass(job, now)
    raise AssertionError(f"The job is still {job.state}: {job.problem}")
