"""Celery application; tasks are in the apps' tasks.py."""

import logging
import logging.config
import os

from celery import Celery
from celery.schedules import crontab
from celery.signals import (
    after_task_publish,
    setup_logging,
    task_postrun,
    worker_process_init,
    worker_ready,
)
from django.conf import settings
from kombu.exceptions import OperationalError

from common import heartbeats
from common.heartbeats import Heartbeat
from common.metric_exchange import start_exchange

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")

# Hours become ready for compaction one by one, and out-of-order uploads arrive at any time.
ROLL_UP_SECONDS = 60.0
# A deletion starts, and goes on after a restart, within this time.
DELETION_SECONDS = 60.0
ALERT_SECONDS = 60.0
ROLL_UP = "profiles.tasks.roll_up"

PLAN = "scheduler.tasks.plan"

app = Celery("flamewatch")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "plan": {
        "task": PLAN,
        "schedule": settings.PLAN_PERIOD_SECONDS,
        # A run that was queued for longer than its period is superseded by the next.
        "options": {"expires": settings.PLAN_PERIOD_SECONDS},
    },
    "roll up": {
        "task": ROLL_UP,
        "schedule": ROLL_UP_SECONDS,
        "options": {"expires": ROLL_UP_SECONDS},
    },
    # At fixed minutes of the hour, so that a server that is restarted every hour reaches them too.
    "retain": {"task": "profiles.tasks.retain", "schedule": crontab(minute="17")},
    "delete data": {
        "task": "profiles.tasks.delete_data",
        "schedule": DELETION_SECONDS,
        "options": {"expires": DELETION_SECONDS},
    },
    "export data": {
        "task": "profiles.tasks.export_data",
        "schedule": DELETION_SECONDS,
        "options": {"expires": DELETION_SECONDS},
    },
    # Only without Redis, where the worker belongs to one server and its data folder. A worker
    # shared by several servers could not know whose folder to use.
    **(
        {}
        if settings.REDIS_URL
        else {
            "keep disk reserve": {
                "task": "profiler_site.tasks.keep_disk_reserve",
                "schedule": ROLL_UP_SECONDS,
            }
        }
    ),
    # At minutes at which half a day has just settled, and again for what was interrupted.
    "analyze": {"task": "findings.tasks.analyze", "schedule": crontab(minute="3-59/10")},
    "evaluate alerts": {
        "task": "alerts.tasks.evaluate",
        "schedule": ALERT_SECONDS,
        "options": {"expires": ALERT_SECONDS},
    },
    "purge incidents": {
        "task": "alerts.tasks.purge_incidents",
        "schedule": crontab(hour="3", minute="51"),
    },
    "send notices of findings": {
        "task": "findings.tasks.send_notices",
        "schedule": crontab(minute="8-59/10"),
    },
    "purge sessions": {
        "task": "projects.tasks.purge_sessions",
        "schedule": crontab(hour="3", minute="37"),
    },
    "purge invitations": {
        "task": "projects.tasks.purge_invitations",
        "schedule": crontab(hour="3", minute="41"),
    },
    "send lost invitations": {
        "task": "projects.tasks.send_lost_invitations",
        "schedule": crontab(minute="7,37"),
    },
    "send notices": {
        "task": "projects.tasks.send_notices",
        "schedule": crontab(minute="*/10"),
    },
    "deliver webhooks": {
        "task": "projects.tasks.deliver_webhooks",
        "schedule": crontab(),  # each minute
    },
    "purge audit log": {
        "task": "projects.tasks.purge_audit_log",
        "schedule": crontab(hour="3", minute="43"),
    },
    "sweep blobs": {"task": "profiles.tasks.sweep_blobs", "schedule": crontab(minute="47")},
}


class BrokerOutageFilter(logging.Filter):
    """Reduce a task that beat could not send, because the broker is away, to one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and isinstance(error.__context__, OperationalError):
            record.msg, record.args = "%s", (error,)
            record.exc_info = record.exc_text = None
        return True


logging.getLogger("celery.beat").addFilter(BrokerOutageFilter())


@setup_logging.connect(weak=False)
def _set_up_logging(**_details: object) -> None:
    """Log as the web processes do: by FLAMEWATCH_LOG_LEVEL and FLAMEWATCH_LOG_FORMAT."""
    logging.config.dictConfig(settings.LOGGING)


@after_task_publish.connect(weak=False)
def _note_beat(sender: str = "", **_details: object) -> None:
    if sender == PLAN:  # only beat sends it
        heartbeats.note(Heartbeat.BEAT)


@task_postrun.connect(weak=False)
def _note_worker(**_details: object) -> None:
    heartbeats.note(Heartbeat.WORKER)


@worker_process_init.connect(weak=False)
@worker_ready.connect(weak=False)
def _publish_metrics(**_details: object) -> None:
    """Publish the metrics of a worker process for the web processes of this machine."""
    if settings.REDIS_URL:
        start_exchange("worker")
