"""Settings of the process that serves."""

import sys
from collections.abc import Iterator

import pytest

from profiler_site.process.server import switch_threads_often


@pytest.fixture(autouse=True)
def interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def test_computing_threads_keep_the_gil_for_half_a_millisecond() -> None:
    switch_threads_often()
    assert sys.getswitchinterval() == pytest.approx(0.0005)
