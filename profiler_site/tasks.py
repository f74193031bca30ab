"""Celery tasks of the server itself."""

from celery import shared_task
from django.conf import settings

from profiler_site.process import disk_reserve


@shared_task(name="profiler_site.tasks.keep_disk_reserve")
def keep_disk_reserve() -> None:
    disk_reserve.keep(settings.DATA_DIR, settings.MIN_FREE_BYTES)
