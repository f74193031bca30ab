"""Background jobs on the start page of the admin; the apps that run jobs add them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from projects.models import Project

MAX_SHOWN = 20  # of each kind, the oldest first


@dataclass(frozen=True, slots=True)
class JobRow:
    """Job that runs, waits for its turn, or failed lately."""

    project: Project
    kind: str
    state: str
    progress: str
    problem: str  # of the last step; "" without one
    requested: datetime
    url: str  # of its page in the admin


JobSource = Callable[[], list[JobRow]]
_sources: list[JobSource] = []


def add_job_source(source: JobSource) -> None:
    """Show the jobs of a source, which may return MAX_SHOWN of them by one statement."""
    _sources.append(source)


def list_jobs() -> list[JobRow]:
    return [row for source in _sources for row in source()]
