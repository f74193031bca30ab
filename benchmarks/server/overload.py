"""Measure a quiet project beside an overload by two others, on the real server with SQLite.

One project offers ten times the uploads that the server sustains, another one has twenty heavy page
queries at a time. The quiet one uploads and opens its flame graph. The load comes from a process of
the lowest priority: as on other machines, its CPU time does not delay the server.
"""

import sys

from benchmarks.tools.table import Figure, show
from tests.attacks.overload.run import FACTOR, QUERIES, Overload, measure

SECONDS = 30.0
RATIO = 2.0
MEMORY_MIB = 768.0
RECOVERY_SECONDS = 2.0


def main() -> int:
    overload = measure(SECONDS)
    title = f"Overload: {FACTOR} x the sustainable uploads, {QUERIES} page queries at a time"
    is_met = show(title, _figures(overload))
    print(f"  uploads by status {dict(overload.load.uploads)}")
    print(f"  page queries by status {dict(overload.load.queries)}")
    for said in {*overload.during.failed, *overload.after.failed}:
        print(f"  FAILED {said}")
    is_lossless = overload.acknowledged == overload.stored
    print(f"  acknowledged {overload.acknowledged}, stored {overload.stored}")
    return 0 if is_met and is_lossless and not overload.during.failed else 1


def _figures(overload: Overload) -> list[Figure]:
    figures = [
        Figure("uploads of one project alone", overload.sustained, "a second"),
        Figure("uploads offered", overload.offered, "a second"),
        Figure("uploads acknowledged", overload.load.uploads[200] / SECONDS, "a second"),
    ]
    for kind in overload.during.seconds:
        before, during = overload.before.p95(kind), overload.during.p95(kind)
        figures += [
            Figure(f"quiet project, {kind}: p95 before", before * 1e3, "ms"),
            Figure(f"quiet project, {kind}: p95 during", during * 1e3, "ms", RATIO * before * 1e3),
            Figure(f"quiet project, {kind}: p95 after", overload.after.p95(kind) * 1e3, "ms"),
        ]
    lost = sum(overload.acknowledged.values()) - sum(overload.stored.values())
    return [
        *figures,
        Figure("first requests afterwards", overload.recovery_seconds(), "s", RECOVERY_SECONDS),
        Figure("acknowledged profiles that are lost", lost, "profiles", 0),
        Figure("memory beyond that before", overload.usage.memory / 2**20, "MiB", MEMORY_MIB),
    ]


if __name__ == "__main__":
    sys.exit(main())
