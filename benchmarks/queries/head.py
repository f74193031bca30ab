"""Measure merging the last hour's profiles, all in the head, into the JSON of a flame graph.

The profiles of shape A are stored in a new database. The page cache is warm; nothing else is
cached.
"""

import sys
from datetime import timedelta

import django

django.setup()

from django.core.management import call_command

from benchmarks.tools.shapes import variants
from benchmarks.tools.table import Figure, show
from benchmarks.tools.timing import cpu_ms, wall_ms
from profiles.query import ProfileSelection, View, run_services, run_top, run_tree, tree_json
from profiles.storage.insert import insert
from projects.models import User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context

PROFILES, VARIANTS = 250, 64


def fill() -> ProfileSelection:
    call_command("migrate", verbosity=0)
    project = create_project("Bench", User.objects.create_user("bench@example.org", "x" * 12))
    shop = rows.deployment(project)
    raws = list(variants(VARIANTS))
    for i in range(PROFILES):
        insert([rows.new_of(shop, raws[i % VARIANTS], minutes=i / 4)])
    end = rows.NOON + timedelta(hours=2)
    return ProfileSelection(project.pk, "shop", ProfileType.CPU, rows.NOON, end)


def main() -> int:
    selection = fill()

    def flame() -> bytes:
        context = query_context(selection)
        return tree_json(context, run_tree(context, selection, View()))

    def services() -> object:
        return run_services(query_context(selection.project), selection.start, selection.end)

    nodes = len(run_tree(query_context(selection), selection, View()).tree.id)
    within_limits = show(
        f"Queries: {PROFILES} profiles of shape A in the head, {nodes:,} nodes together",
        [
            Figure("flame graph as JSON, wall", wall_ms(flame), "ms", 40),
            Figure("flame graph as JSON, CPU", cpu_ms(flame, 5, 3), "ms CPU"),
            Figure("size of that JSON", len(flame()) / 1e3, "kB"),
            Figure(
                "list of functions",
                wall_ms(lambda: run_top(query_context(selection), selection, View())),
                "ms",
            ),
            Figure("services", wall_ms(services), "ms"),
        ],
    )
    return 0 if within_limits else 1


if __name__ == "__main__":
    sys.exit(main())
