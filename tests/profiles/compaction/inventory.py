"""Inventory of every profile of a project, in the head and in blocks."""

from collections import Counter

from django.db.models import Sum

from profiles.engine.blocks import open_hour
from profiles.engine.encoding.codec import decode
from profiles.models import Block, Profile, Resolution
from profiles.storage.blob_store import get_location, read
from projects.models import DayUsage, Project


def stock(project: Project) -> Counter[tuple[str, int]]:
    """Count the copies of each profile by (name, total of its values)."""
    found: Counter[tuple[str, int]] = Counter()
    for row in Profile.objects.filter(project=project):
        found[row.name_id, int(decode(bytes(row.tree)).self[0].sum())] += 1
    blocks = Block.objects.filter(project=project, resolution=Resolution.PROFILE)
    for each in blocks.select_related("blob"):
        block = open_hour(read(get_location(each)))
        totals = block.profiles.totals[0].tolist()
        sums, _ = block.sums([0], None, True)
        assert int(sums.sum()) == sum(totals)
        found.update(zip(block.identities.name_id, totals, strict=True))
    return found


def counted_bytes(project: Project) -> int:
    return DayUsage.objects.filter(project=project).aggregate(s=Sum("stored_bytes"))["s"] or 0


def really_stored_bytes(project: Project) -> int:
    trees = sum(len(row.tree) for row in Profile.objects.filter(project=project))
    return trees + sum(row.length for row in Block.objects.filter(project=project))
