"""Outcome of an action as a message of the next page."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

from profiles.deletion.jobs import DeletionRejected
from profiles.project_export.jobs import ExportRejected


@contextmanager
def report_outcome(request: HttpRequest, done: str) -> Iterator[None]:
    """Tell that the block is done, or why it was rejected."""
    try:
        yield
    except (DeletionRejected, ExportRejected) as rejected:
        messages.warning(request, str(rejected))
    else:
        messages.success(request, done)
