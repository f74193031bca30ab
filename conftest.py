"""Configuration of all tests: fixed seeds, derived markers, retries for measurements only.

Tests are not retried. A `measurement` compares measured time or samples with the true value, which
other work on the machine can distort: it runs alone, may be repeated twice, and is then named in
the summary and counted as `rerun` in the closing line.
"""

import gc
import json
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import examples

REPEATS = 2
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}
# Markers whose files tests/stages.py finds by their text.
FOUND_BY_TEXT = ("measurement", "server")
COUNTED = ("passed", "failed", "error", "skipped", "xfailed", "rerun")

# Examples are the same in every run; for new ones: pytest --hypothesis-profile=explore. Slowness is
# not an error.
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True, database=None)
settings.load_profile("fixed")

# As the server's commands set it, which some tests run in their own process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts background jobs with Ctrl-C ignored, which their child processes inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Number the cases with bytes, because gzip output varies and all workers need equal ids."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Collect without the garbage collector, which finds nothing there in a fifth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude modules and tests, which stay until the end, from all further collections."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Derive markers before `-m` selects by them."""
    texts: dict[Path, str] = {}
    for item in items:
        for marker in FOUND_BY_TEXT:
            if item.get_closest_marker(marker):
                text = texts.get(item.path) or texts.setdefault(item.path, item.path.read_text())
                if f"mark.{marker}" not in text:
                    raise pytest.UsageError(
                        f"{item.nodeid}: write pytest.mark.{marker} in its file"
                    )
        if _uses_database(item):
            item.add_marker(pytest.mark.database)
        if item.get_closest_marker("measurement"):
            item.add_marker(pytest.mark.flaky(reruns=REPEATS))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Note the variables that fixtures of the whole run set."""
    if fixturedef.scope != "session":
        return (yield)
    before = _environment()
    value = yield
    _COMMON.update(_environment().items() - before.items())
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Fail the last test of a file that leaves a changed environment to the files after it."""
    yield
    if nextitem and nextitem.path != item.path:
        changed = {name for name, _ in _COMMON.items() ^ _environment().items()}
        os.environ.update(_COMMON)
        for name in changed - _COMMON.keys():
            del os.environ[name]
        if changed:
            pytest.fail(f"Tests of this file changed the variables {', '.join(sorted(changed))}.")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


_COMMON = _environment()  # of all tests


def _uses_database(item: pytest.Item) -> bool:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    marked = item.get_closest_marker("django_db") is not None
    return marked or not DATABASE_FIXTURES.isdisjoint(fixtures)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write this run's counts to the file that tests/run.py reads for its closing line."""
    target = os.environ.get("FLAMEWATCH_TEST_COUNTS")
    if target:
        counts = {key: len(terminalreporter.stats.get(key, [])) for key in COUNTED}
        Path(target).write_text(json.dumps(counts))
