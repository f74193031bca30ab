"""Store 500 profiles of shape A in a new database, compact them, and compare the two halves."""

import sys
from collections.abc import Callable
from datetime import timedelta

import django

django.setup()

from django.core.management import call_command
from django.utils import timezone

from benchmarks.tools.shapes import variants
from benchmarks.tools.table import Figure, show
from benchmarks.tools.timing import wall_ms
from profiles.compaction.compactor import Compactor
from profiles.query import (
    FilterOption,
    ProfileSelection,
    View,
    ViewFilter,
    compare_document,
    dumps,
    run_compare,
    run_history,
)
from profiles.storage.insert import insert
from projects.models import User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context

PROFILES, VARIANTS = 500, 64
STEP = timedelta(seconds=15)
PEERS = "Pyroscope 49, Parca 499 (without intervals)"


def fill() -> ProfileSelection:
    call_command("migrate", verbosity=0)
    project = create_project("Bench", User.objects.create_user("bench@example.org", "x" * 12))
    shop = rows.deployment(project)
    raws = list(variants(VARIANTS))
    for i in range(PROFILES):
        insert([rows.new_of(shop, raws[i * 37 % VARIANTS], minutes=i / 4)])
    end = rows.NOON + PROFILES * STEP
    return ProfileSelection(project.pk, "shop", ProfileType.CPU, rows.NOON, end)


def halves(whole: ProfileSelection) -> tuple[ProfileSelection, ProfileSelection]:
    middle = whole.start + (whole.end - whole.start) / 2
    first = ProfileSelection(whole.project, whole.service, whole.type, whole.start, middle)
    return first, ProfileSelection(whole.project, whole.service, whole.type, middle, whole.end)


def main() -> int:
    whole = fill()
    sides = halves(whole)
    hidden = View(filters=(ViewFilter(FilterOption.HIDE, "runtime."),))

    def compare(view: View) -> Callable[[], bytes]:
        return lambda: dumps(
            compare_document(
                query_context(sides[0]), run_compare(query_context(sides[0]), *sides, view)
            )
        )

    head = wall_ms(compare(View()))
    later = timezone.now() + timedelta(days=2)
    Compactor(whole.project, later).build_level1()
    Compactor(whole.project, later).build_level2()
    within_limits = show(
        f"Comparison with significance, as JSON: {PROFILES // 2} against {PROFILES // 2} of A",
        [
            Figure("in hour blocks", wall_ms(compare(View())), "ms", 40, PEERS),
            Figure("in hour blocks, some stacks hidden", wall_ms(compare(hidden)), "ms"),
            Figure("all in the head", head, "ms"),
            Figure(
                "history of all, 5 functions",
                wall_ms(lambda: run_history(query_context(whole), whole, View())),
                "ms",
            ),
        ],
    )
    return 0 if within_limits else 1


if __name__ == "__main__":
    sys.exit(main())
