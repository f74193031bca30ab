"""Simulation of the values of nodes and functions in many captures.

A capture of 10 s at 100 Hz on one busy core takes 1,000 samples. The number of samples in a node
varies by sampling (Poisson) and between profiles: the load at the time, the work of each function
(gamma), and the captured agent (log-normal, drawn anew for each profile from a fleet that both
sides share).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from profiles.engine.stats.significance import SampleVariance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Service:
    """Call tree of random shape with log-normal shares of the leaves, so that most are sparse."""

    seed: int = 1
    nodes: int = 1000
    functions: int = 300
    samples: float = 300  # mean number per profile
    load: float = 0.2  # coefficients of variation
    function: float = 0.1
    agent: float = 0.05
    agents: int = 16

    @cached_property
    def rng(self) -> Generator:
        return np.random.default_rng(self.seed)

    @cached_property
    def parent(self) -> Ints:
        return np.array(
            [-1, *(int(self.rng.integers(max(0, i - 40), i)) for i in range(1, self.nodes))]
        )

    @cached_property
    def function_of(self) -> Ints:
        return self.rng.integers(0, self.functions, self.nodes)

    @cached_property
    def mean(self) -> Floats:
        """Return the mean samples in each node itself, [N]."""
        weight = np.exp(self.rng.normal(0, 2, self.nodes))
        mean: Floats = self.samples * weight / weight.sum()
        return mean

    @cached_property
    def fleet(self) -> Floats:
        """Return the factor of each agent on each function, [agents, functions]."""
        effects: Floats = np.exp(self.rng.normal(0, self.agent, (self.agents, self.functions)))
        return effects

    @cached_property
    def outermost(self) -> NDArray[np.bool_]:
        """Return a mask of the nodes whose function is not above them: recursion counts once."""
        above: list[frozenset[int]] = []
        for node, function in enumerate(self.function_of.tolist()):
            parent = int(self.parent[node])
            before = above[parent] if parent >= 0 else frozenset()
            above.append(before | {-1 - function} if function in before else before | {function})
        return np.array([-1 - f not in above[i] for i, f in enumerate(self.function_of.tolist())])

    def capture(self, profiles: int) -> tuple[SampleVariance, SampleVariance]:
        """Simulate the totals of nodes and of functions over `profiles` captures."""
        rng, shape = self.rng, (profiles, self.functions)
        effects = gamma(rng, self.load, (profiles, 1)) * gamma(rng, self.function, shape)
        effects *= self.fleet[rng.integers(0, self.agents, profiles)]
        total = rng.poisson(effects[:, self.function_of] * self.mean).T.astype(np.float64)
        for node in range(self.nodes - 1, 0, -1):
            total[self.parent[node]] += total[node]
        functions = np.zeros((self.functions, profiles))
        np.add.at(functions, self.function_of[self.outermost], total[self.outermost])
        return sample_variance(total), sample_variance(functions)


def sample_variance(totals: Floats) -> SampleVariance:
    """Compute sums, sums of squares and counts of totals [M, profiles]."""
    present = np.count_nonzero(totals, axis=1).astype(np.int64)
    return SampleVariance(totals.shape[1], totals.sum(axis=1), (totals**2).sum(axis=1), present)


def gamma(rng: Generator, variation: float, shape: tuple[int, ...]) -> Floats:
    """Draw factors with mean 1."""
    return rng.gamma(variation**-2, variation**2, shape)


@dataclass(frozen=True, slots=True)
class Function:
    """Total of one function: a Poisson number with a gamma mean, hence negative binomial.

    Σ and Σ² over any number of profiles follow from the number of profiles with each value, which
    is one multinomial draw: exact, and as cheap for 43,200 profiles as for ten.
    """

    mean: float  # samples
    variation: float  # between profiles, beyond sampling

    def chances(self) -> Floats:
        """Return the probabilities of 0, 1, 2 … samples."""
        size = self.variation**-2
        spread = (self.mean + (self.mean * self.variation) ** 2) ** 0.5
        ahead = np.arange(1, int(self.mean + 12 * spread + 30))
        miss = size / (size + self.mean)
        steps = np.log((size + ahead - 1) / ahead * (1 - miss))
        logs = np.concatenate([[0.0], np.cumsum(steps)]) + size * np.log(miss)
        chances: Floats = np.exp(logs)
        chances /= chances.sum()
        return chances


def captured(rng: Generator, functions: list[Function], profiles: int) -> SampleVariance:
    """Draw the sums and sums of squares of each function, independently."""
    rows = [_counted(rng.multinomial(profiles, function.chances())) for function in functions]
    sums, squares, present = zip(*rows, strict=True)
    return SampleVariance(profiles, np.array(sums), np.array(squares), np.array(present))


def _counted(profiles_with: Ints) -> tuple[float, float, int]:
    value = np.arange(len(profiles_with))
    with_any = int(profiles_with[1:].sum())
    return float(profiles_with @ value), float(profiles_with @ value**2), with_any
