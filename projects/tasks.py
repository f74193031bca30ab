"""Celery tasks of accounts."""

from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

# Sessions deleted by one statement: SQLite lets nobody else write meanwhile.
CHUNK = 1000


@shared_task(name="projects.tasks.purge_sessions")
def purge_sessions() -> None:
    """Delete expired sessions from the database."""
    expired = Session.objects.filter(expire_date__lt=timezone.now())
    while keys := list(expired.values_list("pk", flat=True)[:CHUNK]):
        Session.objects.filter(pk__in=keys).delete()
