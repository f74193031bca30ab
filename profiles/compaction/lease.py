"""Leases of jobs, which avoid duplicate work; correctness does not depend on them.

A lease is short and is renewed while its job runs, so that a killed worker blocks a job for at
most LEASE_SECONDS.
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

BACKUP = "backup"  # job whose lease pauses the deletion of blobs
LEASE_SECONDS = 120.0
RENEW_SECONDS = 30.0  # three renewals may fail before another worker takes the job


@contextlib.contextmanager
def lease(job: str) -> Iterator[bool]:
    """Yield True if this worker holds the lease of the job in the `with` body, else False."""
    holder = uuid.uuid4().hex
    if not _acquire(job, holder):
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
    """Delete every lease but that of a backup, which runs in a process of its own.

    For a process that is the only worker, at its start: any lease belongs to a killed process.
    """
    Lease.objects.exclude(job=BACKUP).delete()


def is_held(job: str) -> bool:
    """Return True if a worker holds the lease of a job; that of a killed one ends by itself."""
    return Lease.objects.filter(job=job, until__gte=timezone.now()).exists()


def _acquire(job: str, holder: str) -> bool:
    now = timezone.now()
    fields = {"holder": holder, "until": now + timedelta(seconds=LEASE_SECONDS)}
    if Lease.objects.filter(job=job, until__lt=now).update(**fields):
        return True
    try:
        with transaction.atomic():
            Lease.objects.create(job=job, **fields)
    except IntegrityError:  # another worker holds the lease
        return False
    return True


def _renew(job: str, holder: str, ended: threading.Event) -> None:
    """Renew the lease every RENEW_SECONDS until the job ends, with a connection of this thread."""
    while not ended.wait(RENEW_SECONDS):
        try:
            until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
            if not Lease.objects.filter(job=job, holder=holder).update(until=until):
                log.warning(
                    "Lost the lease of %s to another worker; both continue their work.",
                    job,
                )
                return
        except Error as error:
            log.warning("Renewing the lease of %s failed; retrying: %s", job, error)
        finally:
            connection.close()
