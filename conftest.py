"""Configuration of every test: fixed chance, derived markers, repeats of measurements only.

A test has one try. A `measurement` compares measured time or samples with the truth, which a
machine that does other things meanwhile can spoil: it runs alone, may be repeated twice, and is
then named in the summary and counted as `rerun` in the closing line.
"""

import json
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPEATS = 2
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}
COUNTED = ("passed", "failed", "error", "skipped", "xfailed", "rerun")

# The same examples in each run; new ones: pytest --hypothesis-profile=explore. A slow machine
# is no finding.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True, database=None)
settings.load_profile("fixed")

# A shell that runs the tests in its background has them ignore Ctrl-C, and all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Number cases of bytes: gzip writes the time, and every worker must find the same names."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Derive markers before `-m` selects by them."""
    for item in items:
        if _uses_database(item):
            item.add_marker(pytest.mark.database)
        if item.get_closest_marker("measurement"):
            item.add_marker(pytest.mark.flaky(reruns=REPEATS))


def _uses_database(item: pytest.Item) -> bool:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    marked = item.get_closest_marker("django_db") is not None
    return marked or not DATABASE_FIXTURES.isdisjoint(fixtures)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the counts of this run where tests/run.py reads them, for its closing line."""
    target = os.environ.get("FLAMEWATCH_TEST_COUNTS")
    if target:
        counts = {key: len(terminalreporter.stats.get(key, [])) for key in COUNTED}
        Path(target).write_text(json.dumps(counts))
