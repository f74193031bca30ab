"""What holds for every test of this repository: chance is fixed, and measurements get three tries.

A machine that does other things meanwhile can spoil a measurement of real time, processes,
browsers or chance. What fails three times in a row is wrong; what needed a second try is named in
the summary and counted as `rerun` in pytest's closing line, so that it is seen. Tests that only
compute get one try.
"""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

AGENT = Path(__file__).parent / "agents"
MARKS = ("browser", "server", "real")
RERUNS = 2

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if AGENT in item.path.parents or any(item.get_closest_marker(mark) for mark in MARKS):
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))
