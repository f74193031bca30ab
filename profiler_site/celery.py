"""The Celery application; tasks live in the apps' tasks.py."""

import os

from celery import Celery
from celery.schedules import crontab
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")

# Hours close one by one; what is late comes at any time.
ROLL_UP_SECONDS = 60.0
ROLL_UP = "profiles.tasks.roll_up"

app = Celery("flamewatch")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "plan": {
        "task": "scheduler.tasks.plan",
        "schedule": settings.PLAN_PERIOD_SECONDS,
        # A plan that waited longer than its period is of no use to anyone.
        "options": {"expires": settings.PLAN_PERIOD_SECONDS},
    },
    "roll up": {
        "task": ROLL_UP,
        "schedule": ROLL_UP_SECONDS,
        "options": {"expires": ROLL_UP_SECONDS},
    },
    # At minutes of the clock: a server that is started anew each hour comes by them too.
    "retain": {"task": "profiles.tasks.retain", "schedule": crontab(minute="17")},
    # Each server's worker for its own data folder; where several share the work nobody knows whose.
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
    "sweep blobs": {"task": "profiles.tasks.sweep_blobs", "schedule": crontab(minute="47")},
}
