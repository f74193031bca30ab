"""Celery's beat without its broker."""

import logging

import pytest
from celery import Celery
from celery.beat import ScheduleEntry, Scheduler
from celery.schedules import schedule

import profiler_site.celery  # noqa: F401  it sets up beat's log
from tests.services import free_port

pytestmark = pytest.mark.slow


def test_task_that_cannot_be_sent_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    app = Celery("test", broker=f"redis://127.0.0.1:{free_port()}/0", set_as_current=False)
    app.conf.task_publish_retry = False
    scheduler = Scheduler(app=app, lazy=True)
    entry = ScheduleEntry(name="plan", task="tasks.plan", schedule=schedule(60), app=app)
    with caplog.at_level(logging.ERROR, "celery.beat"):
        scheduler.apply_entry(entry)
    (record,) = caplog.records
    text = logging.Formatter("%(message)s").format(record)
    assert text.startswith("Couldn't apply scheduled task plan: Error 111 connecting to 127.0.0.1")
    assert "\n" not in text
