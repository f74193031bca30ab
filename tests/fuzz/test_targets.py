"""Readers of foreign bytes on their known inputs, and on the same mutated ones in each run."""

import itertools

import pytest

from tests.fuzz.cost import CostMeter
from tests.fuzz.execution import mutator_of
from tests.fuzz.target_names import SHARES
from tests.fuzz.targets import TARGETS

CASES = 700  # mutated inputs of a target with share 1: of most targets thousands
BY_NAME = pytest.mark.parametrize("name", TARGETS)


def test_the_list_of_names_has_all_targets() -> None:
    assert list(TARGETS) == list(SHARES)


@BY_NAME
def test_seeds_are_accepted_or_rejected_and_some_are_accepted(name: str) -> None:
    rejections = [TARGETS[name].accepts(data) for data in TARGETS[name].corpus()]
    assert "" in rejections, rejections


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if target.cost])
def test_known_inputs_cost_no_more_than_their_size_allows(name: str) -> None:
    target = TARGETS[name]
    assert target.cost
    meter = CostMeter(target.cost)
    for data in target.corpus():
        meter.run(target.accepts_measured, data)


@pytest.mark.slow
@BY_NAME
def test_mutated_inputs_are_no_findings(name: str) -> None:
    target = TARGETS[name]
    mutator = mutator_of(target, target.corpus(), "fixed")
    outcomes = set()
    for data in itertools.islice(mutator.inputs(), CASES * SHARES[name]):
        outcome = target.accepts(data)
        mutator.learn(data, outcome)
        outcomes.add(outcome)
    assert len(outcomes) > 1
