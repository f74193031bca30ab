"""Compact a day of shape A, and repeat queries with 1, 10 and 100 times as much data stored.

The cost must depend on what a query reads, not on what is stored. The page cache is warm; nothing
else is cached.

The additional data are block rows only: half belong to other services, half to other days of the
same service. They refer to the bytes of the first day, which no query reads through them.
"""

import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import django

django.setup()

from django.core.management import call_command
from django.utils import timezone

from benchmarks.tools.shapes import variants
from benchmarks.tools.table import Figure, show
from benchmarks.tools.timing import wall_ms
from profiles.compaction.compactor import Compactor
from profiles.models import Block
from profiles.query import (
    ProfileSelection,
    View,
    run_options,
    run_profiles,
    run_services,
    run_strip,
    run_tree,
    tree_json,
)
from profiles.storage.insert import insert
from projects.models import Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context

PROFILES, VARIANTS = 5_760, 64  # profiles of a day, one every 15 s
MIDNIGHT = rows.NOON - timedelta(hours=12)
DAY = timedelta(days=1)
CPU = ProfileType.CPU


def fill() -> Project:
    call_command("migrate", verbosity=0)
    project = create_project("Bench", User.objects.create_user("bench@example.org", "x" * 12))
    shop = rows.deployment(project)
    made = [rows.new_of(shop, raw) for raw in variants(VARIANTS)]
    for at in range(0, PROFILES, 256):
        insert(
            [
                rows.again(made[i % VARIANTS], MIDNIGHT + timedelta(seconds=15 * i), f"p{i}")
                for i in range(at, min(at + 256, PROFILES))
            ]
        )
    return project


def store_more(project: Project, times: int) -> None:
    """Add block rows until there are `times` as many as the first day has."""
    first = list(Block.objects.filter(service="shop", start__gte=MIDNIGHT))
    while Block.objects.count() < times * len(first):
        number = Block.objects.count()
        if number // len(first) % 2:
            copies = [_moved(block, service=f"service-{number}") for block in first]
        else:
            past = DAY * (number // len(first))
            copies = [
                _moved(block, start=block.start - past, end=block.end - past) for block in first
            ]
        Block.objects.bulk_create(copies)


def _moved(block: Block, **fields: object) -> Block:
    values = {f.attname: getattr(block, f.attname) for f in Block._meta.concrete_fields}
    return Block(**(values | {"id": None, "day_block_id": None} | fields))


def queries(project: Project) -> dict[str, Callable[[], object]]:
    def selection(hours: float) -> ProfileSelection:
        end = MIDNIGHT + DAY - timedelta(seconds=0 if hours == 24 else 1)
        return ProfileSelection(project.pk, "shop", CPU, end - timedelta(hours=hours), end)

    def flame(hours: float) -> bytes:
        matching = selection(hours)
        context = query_context(matching)
        return tree_json(context, run_tree(context, matching, View()))

    day = (MIDNIGHT, MIDNIGHT + DAY)
    return {
        "flame graph of 250 profiles": partial(flame, 250 / 240),
        "flame graph of 1,440": partial(flame, 6),
        "flame graph of 5,760, a day": partial(flame, 24),
        "the same without 1 s, from its hours": partial(flame, 23.999),
        "strip of a day": lambda: run_strip(query_context(selection(24)), selection(24)),
        "menus of a day": lambda: run_options(query_context(project.pk), "shop", CPU, *day),
        "profiles of an hour, a page": lambda: run_profiles(
            query_context(selection(1)), selection(1)
        ),
        "services of the project, a day": lambda: run_services(query_context(project.pk), *day),
    }


def main() -> int:
    project = fill()
    later = timezone.now() + 3 * DAY
    Compactor(project.pk, later).build_level1()
    Compactor(project.pk, later).build_level2()
    found: dict[str, list[float]] = {}
    for times in (1, 10, 100):
        store_more(project, times)
        for name, query in queries(project).items():
            found.setdefault(name, []).append(wall_ms(query, 7))
    limits = {"flame graph of 250 profiles": 12, "flame graph of 1,440": 25}
    figures = []
    for name, (once, ten, hundred) in found.items():
        figures.append(Figure(f"{name}: 1×", once, "ms", limits.get(name)))
        figures.append(Figure("  10×", ten, "ms"))
        figures.append(Figure("  100×", hundred, "ms"))
    title = f"Stored: {Block.objects.count():,} blocks at 100×, the same questions"
    return 0 if show(title, figures) else 1


if __name__ == "__main__":
    sys.exit(main())
