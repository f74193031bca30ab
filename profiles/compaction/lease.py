"""Leases of jobs: they save work done twice; nothing is wrong without them.

A lease is short and is renewed while its job runs, so that a worker that was killed holds a job
up for LEASE_SECONDS at most.
"""

import contextlib
import logging
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta

from django.db import Error, IntegrityError, connection, transaction
from django.utils import timezone

from profiles.models import Lease

log = logging.getLogger(__name__)

LEASE_SECONDS = 120.0
RENEW_SECONDS = 30.0  # three renewals may fail before another worker takes the job


@contextlib.contextmanager
def lease(job: str) -> Iterator[bool]:
    """Yield True if the job is ours until the end of the block."""
    holder = uuid.uuid4().hex
    if not _take(job, holder):
        yield False
        return
    ended = threading.Event()
    renewal = threading.Thread(
        target=_renew, args=(job, holder, ended), name="lease-renewal", daemon=True
    )
    renewal.start()
    try:
        yield True
    finally:
        ended.set()
        renewal.join()
        Lease.objects.filter(job=job, holder=holder).delete()


def release_all() -> None:
    """Delete every lease: for a process that knows that it is the only worker, at its start.

    What is there belongs to a process that was killed.
    """
    Lease.objects.all().delete()


def _take(job: str, holder: str) -> bool:
    now = timezone.now()
    mine = {"holder": holder, "until": now + timedelta(seconds=LEASE_SECONDS)}
    if Lease.objects.filter(job=job, until__lt=now).update(**mine):
        return True
    try:
        with transaction.atomic():
            Lease.objects.create(job=job, **mine)
    except IntegrityError:  # someone else has it
        return False
    return True


def _renew(job: str, holder: str, ended: threading.Event) -> None:
    """Renew the lease every RENEW_SECONDS until the job ended; it uses a connection of its own."""
    while not ended.wait(RENEW_SECONDS):
        try:
            until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
            if not Lease.objects.filter(job=job, holder=holder).update(until=until):
                log.warning("The lease of %s is another worker's now; its work goes on.", job)
                return
        except Error as error:
            log.warning("The lease of %s could not be renewed, will try again: %s", job, error)
        finally:
            connection.close()
