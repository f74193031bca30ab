"""Measure flame graphs split by a label, and series by a label of samples.

The profiles of shape A, whose samples have an endpoint, are stored in a new database. The page
cache and the block cache are warm; results are not cached.
"""

import random
import sys
from datetime import timedelta
from functools import partial

import django

django.setup()

from django.core.management import call_command
from django.utils import timezone

from benchmarks.tools.shapes import variants
from benchmarks.tools.table import Figure, show
from benchmarks.tools.timing import cpu_ms
from profiles.compaction.compactor import Compactor
from profiles.queries.cache import result_cache
from profiles.query import (
    Grouping,
    GroupKind,
    ProfileSelection,
    View,
    run_series,
    run_tree,
    tree_json,
)
from profiles.storage.insert import insert
from projects.models import User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.pprof_proto import Profile

PROFILES, HEAD_PROFILES = 1_440, 5_760  # 6 hours and a day, one profile every 15 s
VARIANTS, ENDPOINTS, INSTANCES = 64, 20, 16
ENDPOINT = Grouping(GroupKind.SAMPLE, "endpoint")
SPLITS = (ENDPOINT, Grouping(GroupKind.LABEL, "instance"), Grouping(GroupKind.VERSION))
MOST_TIMES = 4  # CPU time of a split query of the head, in times of the same query without
MOST_OF_BLOCKS = 250  # ms of CPU of a split query of blocks


def labelled() -> list[bytes]:
    """Return profiles of shape A, three of four samples of which have an endpoint."""
    chance, found = random.Random(1), []
    for raw in variants(VARIANTS):
        message = Profile.FromString(raw)
        first = len(message.string_table)
        message.string_table.append(b"endpoint")
        message.string_table.extend(f"/endpoint/{i}".encode() for i in range(ENDPOINTS))
        for sample in message.sample:
            if chance.random() < 0.75:
                sample.label.add(key=first, str=first + 1 + chance.randrange(ENDPOINTS))
        found.append(bytes(message.SerializeToString()))
    return found


def fill(profiles: int, service: str) -> ProfileSelection:
    project = create_project(service, User.objects.create_user(f"{service}@example.org", "x" * 12))
    versions = [rows.deployment(project, service, version=str(i)) for i in range(2)]
    raws = labelled()
    made = [
        rows.new_of(versions[i % 2], raw, labels={"instance": f"i-{i % INSTANCES}"})
        for i, raw in enumerate(raws)
    ]
    for at in range(0, profiles, 256):
        insert(
            [
                rows.again(made[i % VARIANTS], rows.NOON + timedelta(seconds=15 * i), f"p{i}")
                for i in range(at, min(at + 256, profiles))
            ]
        )
    end = rows.NOON + timedelta(seconds=15 * profiles)
    return ProfileSelection(project.pk, service, ProfileType.CPU, rows.NOON, end)


def flame(selection: ProfileSelection, split: Grouping | None) -> bytes:
    result_cache().clear()
    context = query_context(selection)
    return tree_json(context, run_tree(context, selection, View(split=split)))


def series(selection: ProfileSelection) -> object:
    result_cache().clear()
    return run_series(query_context(selection), selection, View(), ENDPOINT)


def flames(selection: ProfileSelection, *, in_blocks: bool) -> list[Figure]:
    """Time the flame graph of the profiles, whole and split.

    Blocks have sums over all of their profiles, so the whole graph reads no profile; a split one
    does, and has several times as many nodes.
    """
    where = "in hour blocks" if in_blocks else "in the head"
    whole = cpu_ms(partial(flame, selection, None), 3, 1)
    figures = [Figure(f"flame graph of {PROFILES:,} profiles {where}", whole, "ms CPU")]
    for split in SPLITS:
        split_ms = cpu_ms(partial(flame, selection, split), 3, 1)
        most_ms, most_times = (MOST_OF_BLOCKS, None) if in_blocks else (None, MOST_TIMES)
        figures.append(Figure(f"  split by {split.parameter}", split_ms, "ms CPU", most_ms))
        figures.append(Figure("  times that of the whole", split_ms / whole, "×", most_times))
    return figures


def main() -> int:
    call_command("migrate", verbosity=0)
    selection = fill(PROFILES, "shop")
    figures = flames(selection, in_blocks=False)
    Compactor(selection.project, timezone.now() + timedelta(days=3)).build_level1()
    figures += flames(selection, in_blocks=True)
    day = fill(HEAD_PROFILES, "store")
    name = f"series by sample.endpoint of {HEAD_PROFILES:,} profiles in the head"
    figures.append(Figure(name, cpu_ms(partial(series, day), 3, 1), "ms CPU", 2000))
    return 0 if show("Queries by label: shape A with endpoints", figures) else 1


if __name__ == "__main__":
    sys.exit(main())
