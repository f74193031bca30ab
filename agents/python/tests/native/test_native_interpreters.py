"""Detection of interpreters that can be sampled."""

import sys

from flamewatch import _native


def test_the_interpreter_that_runs_these_tests_can_be_sampled() -> None:
    assert sys.implementation.name == "cpython"
    assert _native.supported() is None


def test_it_reads_its_own_stack() -> None:
    raw = _native.read_own_stack()
    assert raw["codes"][0][0] == "test_it_reads_its_own_stack"
    assert raw["codes"][0][1] == __file__
