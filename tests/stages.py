"""Stages of the three levels of tests; docs/development/testing.md has the table."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

AGENT = "agents/python/tests"
NATIVE = f"{AGENT}/native"
PAGES_IN_BROWSER = "tests/frontend/browser"
CORES = len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Stage:
    """One run of pytest: paths, a marker expression, and the number of workers."""

    name: str
    paths: tuple[str, ...]
    markers: str = ""
    workers: int = 0  # 0: sequential, in pytest's own process
    on_postgresql: bool = False

    def arguments(self) -> list[str]:
        # Tests of one file stay in one worker, because they share fixtures that start servers.
        parallel = ["-n", str(self.workers), "--dist", "loadfile"] if self.workers else []
        selected = ["-m", self.markers] if self.markers else []
        return [*self.paths, *selected, *parallel]


_ALONE = "not measurement"
_QUICK = f"not browser and not server and not nightly and {_ALONE}"
_FAST = Stage(
    "everything fast, on SQLite",
    ("tests", AGENT, f"--ignore={NATIVE}", f"--ignore={PAGES_IN_BROWSER}"),
    _QUICK,
    CORES,
)
_EVERY_DAY: tuple[Stage, ...] = (
    Stage(
        "everything that needs no server, on SQLite",
        ("tests", AGENT, f"--ignore={PAGES_IN_BROWSER}"),
        _QUICK,
        CORES,
    ),
    Stage(
        "the database's tests, on PostgreSQL",
        ("tests", f"--ignore={PAGES_IN_BROWSER}"),
        f"database and {_QUICK}",
        CORES,
        on_postgresql=True,
    ),
    # In separate processes, because Playwright's event loop stays in the thread of the tests.
    Stage("pages in a browser", (PAGES_IN_BROWSER,), _ALONE, CORES),
    # One worker more than there are cores, because servers wait for most of the time.
    Stage("server processes", ("tests", AGENT), f"server and not nightly and {_ALONE}", CORES + 1),
    Stage("measurements, one at a time", ("tests", AGENT), "measurement and not nightly"),
)
_NIGHTLY: tuple[Stage, ...] = (
    Stage("nightly", ("tests", AGENT), f"nightly and {_ALONE}", CORES),
    Stage("nightly measurements, one at a time", ("tests", AGENT), "nightly and measurement"),
)

LEVELS: Mapping[str, tuple[Stage, ...]] = {
    "check": (_FAST,),
    "test": _EVERY_DAY,
    "test-all": (*_EVERY_DAY, *_NIGHTLY),
}
