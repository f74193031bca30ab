"""Stages of compaction at which tests query the same profiles."""

from datetime import datetime, timedelta
from unittest.mock import patch

from django.utils import timezone

from profiles.compaction import plan
from profiles.compaction.compactor import Compactor
from profiles.models import Block, Profile
from projects.models import Project
from tests.profiles import rows
from tests.profiles.compaction.long_heads import lower_row_counts
from tests.profiles.compaction.unlimited_retention import sum_days

COMPACTED = ("half", "parts", "hours", "days", "late")
STAGES = ("head", *COMPACTED)
DAY = timedelta(days=1)


def compact_to(project: Project, stage: str) -> None:
    """Compact the profiles of two days, which begin at rows.NOON, up to a stage.

    "head": nothing. "half": hours of the first 20 h. "parts": half, and the rest in small level 0
    blocks. "hours": all hours. "days": hours and days. "late": days, then late profiles, of which
    one half is compacted too.
    """
    if stage == "head":
        return
    later = max(rows.NOON, timezone.now()) + 5 * DAY
    if stage in {"half", "parts"}:
        later = rows.NOON + timedelta(hours=20)
        Profile.objects.update(stored_at=rows.NOON)
    late = []
    if stage == "late":
        late = list(Profile.objects.filter(name_id__endswith="7"))
        Profile.objects.filter(name_id__endswith="7").delete()
    Compactor(project.pk, later).build_level1()
    if stage == "parts":
        _compact_open_hours(project, later)
    if stage in {"days", "late"}:
        assert sum_days(project.pk, later) > 0
    Profile.objects.bulk_create(late[::2])
    if late:
        Compactor(project.pk, later).build_level1()
    Profile.objects.bulk_create(late[1::2])


def _compact_open_hours(project: Project, later: datetime) -> None:
    with lower_row_counts(2, 2):
        Compactor(project.pk, later).build_level0()
        # Treat those hours as open, so that level 0 blocks are built for them.
        with patch.object(plan, "get_closed_hours_end", return_value=rows.NOON):
            assert Compactor(project.pk, later + 2 * DAY).build_level0() > 5
    assert Block.objects.filter(is_level0=True).count() > 2
