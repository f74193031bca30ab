"""Leases: who does a job now. They save work done twice; nothing is wrong without them."""

import contextlib
import uuid
from collections.abc import Iterator
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from profiles.models import Lease

KEPT = timedelta(minutes=30)  # a worker that dies keeps a job from others for so long


@contextlib.contextmanager
def lease(job: str) -> Iterator[bool]:
    """Whether the job is ours until the end of the block."""
    holder = uuid.uuid4().hex
    held = _take(job, holder)
    try:
        yield held
    finally:
        if held:
            Lease.objects.filter(job=job, holder=holder).delete()


def _take(job: str, holder: str) -> bool:
    now = timezone.now()
    mine = {"holder": holder, "until": now + KEPT}
    if Lease.objects.filter(job=job, until__lt=now).update(**mine):
        return True
    try:
        with transaction.atomic():
            Lease.objects.create(job=job, **mine)
    except IntegrityError:  # someone else has it
        return False
    return True
