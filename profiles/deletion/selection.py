"""Selection of the profiles that a deletion job deletes, and how much of a block it covers."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from django.db.models import Q, QuerySet

from profiles.compaction.build import DeletedPart
from profiles.engine.timestamps import to_datetime
from profiles.models import Block, DeletionJob, Profile, Resolution
from projects.models import Deployment


class Cover(Enum):
    NOTHING = "nothing"
    PART = "part"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class DeletionSelection:
    """Profiles of a project; an empty or missing field does not restrict them."""

    service: str = ""
    type: str = ""
    zone: str | None = None
    version: str | None = None
    start: datetime | None = None  # start <= time < end
    end: datetime | None = None

    @classmethod
    def from_job(cls, job: DeletionJob) -> "DeletionSelection":
        return cls(job.service, job.type, job.zone, job.version, job.start, job.end)

    @property
    def is_service(self) -> bool:
        """Return True for all profiles of one service."""
        return self == DeletionSelection(self.service) and bool(self.service)

    @property
    def has_all_types_and_times(self) -> bool:
        return not self.type and self.start is None and self.end is None

    def until(self, end: datetime) -> "DeletionSelection":
        """Return the selection without the profiles from `end` on."""
        return replace(self, end=end if self.end is None else min(self.end, end))

    def describe(self) -> str:
        """Return the selection in words, for the audit log."""
        parts = [self.service or "all services", self.type]
        parts += [] if self.zone is None else [f"zone {self.zone or '(none)'}"]
        parts += [] if self.version is None else [f"version {self.version or '(none)'}"]
        parts += [f"from {self.start:%F %T} UTC"] if self.start else []
        parts += [f"until {self.end:%F %T} UTC"] if self.end else []
        return ", ".join(filter(None, parts))


class SelectedRows:
    """Rows of the head and blocks that have profiles of a selection."""

    def __init__(self, project: int, selection: DeletionSelection) -> None:
        self._project = project
        self._selection = selection
        self._deployments = self._find_deployments()

    def head(self) -> QuerySet[Profile]:
        selection = self._selection
        rows = Profile.objects.filter(self._series())
        if self._deployments is not None:
            rows = rows.filter(deployment__in=self._deployments)
        if selection.start is not None:
            rows = rows.filter(time__gte=selection.start)
        if selection.end is not None:
            rows = rows.filter(time__lt=selection.end)
        return rows.order_by("pk")

    def blocks(self) -> QuerySet[Block]:
        """Return the hour blocks that `cover` has to look at, by primary key."""
        selection = self._selection
        rows = Block.objects.filter(self._series(), resolution=Resolution.PROFILE)
        if selection.start is not None:
            rows = rows.filter(last__gte=selection.start)
        if selection.end is not None:
            rows = rows.filter(first__lt=selection.end)
        return rows.order_by("pk")

    def deployments(self) -> QuerySet[Deployment]:
        """Return the deployments of the selected service, zone and version."""
        selection = self._selection
        rows = Deployment.objects.filter(project=self._project)
        if selection.service:
            rows = rows.filter(service=selection.service)
        if selection.zone is not None:
            rows = rows.filter(zone=selection.zone)
        return rows if selection.version is None else rows.filter(version=selection.version)

    @property
    def part(self) -> DeletedPart:
        pks = None if self._deployments is None else tuple(sorted(self._deployments))
        return DeletedPart(pks, self._selection.start, self._selection.end)

    def cover(self, row: Block) -> Cover:
        """Return how much of a block may be selected, by its summary."""
        counts = row.summary["deployments"]
        chosen = self._select(counts)
        covers = {self._cover_times(*counts[pk][3:5]) for pk in chosen}
        if covers <= {Cover.NOTHING}:
            return Cover.NOTHING
        is_whole = covers == {Cover.WHOLE} and len(chosen) == len(counts)
        return Cover.WHOLE if is_whole else Cover.PART

    def count(self) -> int:
        """Count the selected profiles; those of blocks at the borders count in whole."""
        total = self.head().count()
        rows = self.blocks().only("profiles", "summary")
        for row in rows.iterator(chunk_size=100):
            counts = row.summary["deployments"]
            total += sum(
                counts[pk][0]
                for pk in self._select(counts)
                if self._cover_times(*counts[pk][3:5]) is not Cover.NOTHING
            )
        return total

    def _series(self) -> Q:
        fields = {"service": self._selection.service, "type": self._selection.type}
        return Q(project=self._project, **{name: value for name, value in fields.items() if value})

    def _select(self, counts: dict[str, list[int]]) -> list[str]:
        chosen = self._deployments
        return [pk for pk in counts if chosen is None or int(pk) in chosen]

    def _cover_times(self, first: int, last: int) -> Cover:
        """Return how much of the profiles from the first to the last time (µs) is selected."""
        start, end = self._selection.start, self._selection.end
        begins, ends = to_datetime(first), to_datetime(last)
        if (start and ends < start) or (end and begins >= end):
            return Cover.NOTHING
        is_whole = (not start or begins >= start) and (not end or ends < end)
        return Cover.WHOLE if is_whole else Cover.PART

    def _find_deployments(self) -> set[int] | None:
        if self._selection.zone is None and self._selection.version is None:
            return None
        return set(self.deployments().values_list("pk", flat=True))
