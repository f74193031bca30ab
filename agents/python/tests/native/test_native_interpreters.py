"""Detection of interpreters that can be sampled."""

import sys

from flamewatch import _native


def test_the_interpreter_that_runs_these_tests_can_be_sampled() -> None:
    assert sys.implementation.name == "cpython"
    assert _native.supported() is None


def test_sampler_reads_the_stack_of_this_interpreter() -> None:
    raw = _native.read_own_stack()
    assert raw["codes"][0][0] == "test_sampler_reads_the_stack_of_this_interpreter"
    assert raw["codes"][0][1] == __file__
