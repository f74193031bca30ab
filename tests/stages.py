"""Stages of the three levels of tests; docs/development/testing.md has the table."""

from collections.abc import Mapping
from dataclasses import dataclass

from common.cores import count_cores
from tests.paths import ROOT

AGENT = "agents/python/tests"
NATIVE = f"{AGENT}/native"
CONFORMANCE = "agents/conformance"  # all agents, each with a process of its own
PAGES_IN_BROWSER = "tests/frontend/browser"
# Files that take minutes: begun last, one would run alone at the end of its stage.
_LONGEST_FIRST = frozenset({"tests/attacks/test_rejected_conversions.py"})
CORES = count_cores()


@dataclass(frozen=True, slots=True)
class PytestRun:
    """One run of pytest: paths, a marker expression, and the number of workers."""

    name: str
    paths: tuple[str, ...]
    markers: str = ""
    workers: int = 0  # 0: sequential, in pytest's own process
    on_postgresql: bool = False
    examples: int = 20  # percent of the examples of property tests
    options: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        # Tests of one file stay in one worker, because they share fixtures that start servers.
        parallel = ["-n", str(self.workers), "--dist", "loadfile"] if self.workers else []
        selected = ["-m", self.markers] if self.markers else []
        return [*self.paths, *selected, *parallel, *self.options]


def _files_with(marker: str) -> tuple[str, ...]:
    """Return the files whose text has the marker, for stages that select few tests of all.

    The longest come first.

    Collecting all tests takes 9 s of CPU time in each worker. `conftest.py` fails if a marker comes
    from elsewhere.
    """
    files = (
        path
        for folder in ("tests", AGENT, CONFORMANCE)
        for path in (ROOT / folder).rglob("test_*.py")
    )
    found = (path for path in files if f"mark.{marker}" in path.read_text())
    names = {str(path.relative_to(ROOT)) for path in found}
    return tuple(sorted(names, key=lambda name: (name not in _LONGEST_FIRST, name)))


_ALONE = "not measurement"
_QUICK = f"not browser and not server and not nightly and {_ALONE}"
_FAST = PytestRun(
    "everything fast, on SQLite",
    ("tests", AGENT, f"--ignore={NATIVE}", f"--ignore={PAGES_IN_BROWSER}"),
    f"not slow and {_QUICK}",
    CORES,
)
_EVERY_DAY: tuple[PytestRun, ...] = (
    PytestRun(
        "everything that needs no server, on SQLite",
        ("tests", AGENT, f"--ignore={PAGES_IN_BROWSER}"),
        _QUICK,
        CORES,
    ),
    PytestRun(
        "the database's tests, on PostgreSQL",
        ("tests", f"--ignore={PAGES_IN_BROWSER}"),
        f"database and not one_database and {_QUICK}",
        CORES,
        on_postgresql=True,
    ),
    # In separate processes, because Playwright's event loop stays in the thread of the tests.
    PytestRun("pages in a browser", (PAGES_IN_BROWSER,), f"not nightly and {_ALONE}", CORES),
    # One worker more than there are cores, because servers wait for most of the time.
    PytestRun(
        "server processes",
        _files_with("server"),
        f"server and not nightly and {_ALONE}",
        CORES + 1,
    ),
    PytestRun(
        "measurements, one at a time", _files_with("measurement"), "measurement and not nightly"
    ),
)
_NIGHTLY: tuple[PytestRun, ...] = (
    PytestRun(
        "nightly",
        ("tests", AGENT, f"--ignore={PAGES_IN_BROWSER}"),
        f"nightly and not server and {_ALONE}",
        CORES,
    ),
    PytestRun(
        "property tests, with new examples",
        ("tests", AGENT, f"--ignore={PAGES_IN_BROWSER}"),
        f"hypothesis and {_QUICK}",
        CORES,
        examples=200,
        options=("--hypothesis-profile=explore",),
    ),
    PytestRun("nightly pages in a browser", (PAGES_IN_BROWSER,), "nightly", CORES),
    PytestRun("nightly server processes", _files_with("server"), "nightly and server", CORES + 1),
    PytestRun(
        "nightly measurements, one at a time",
        _files_with("measurement"),
        "nightly and measurement",
    ),
)

LEVELS: Mapping[str, tuple[PytestRun, ...]] = {
    "check": (_FAST,),
    "test": _EVERY_DAY,
    "test-all": (*_EVERY_DAY, *_NIGHTLY),
}
