"""Simulated service of which every change is known, as hourly sums."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from detection.series import Floats, FunctionSymbol, ServiceSeries

FUNCTIONS = 100
DAYS = 30
HOURS = 24 * DAYS
PROFILES_AN_HOUR = 60
SAMPLES_A_CORE = 1000  # of a profile: 10 s at 100 Hz
SHARE = 0.01  # self share of the function that a change is planted in
_FIRST_CHANGE, _LAST_CHANGE = 13 * 24, 26 * 24  # hours with enough history before and days after
RATE_CHANGE = 11 * 24  # hour at which the capture rate changes
_ROLLOUT_HOURS = 3


class Plant(StrEnum):
    NOTHING = "nothing"
    RISE = "rise of 5 %"
    SHIFT = "cost shift"
    RENAME = "rename"


@dataclass(frozen=True)
class SimulatedService:
    series: ServiceSeries
    plant: Plant
    function: int
    hour: int  # of the change, at the start of a roll-out
    version: str  # that came with it


def simulate_service(
    seed: int,
    number: int,
    plant: Plant,
    busy_cores: tuple[float, float] = (2, 8),
    later_profiles: float = PROFILES_AN_HOUR,
) -> SimulatedService:
    """Return a service with daily and weekly rhythm, noise and roll-outs.

    It has `later_profiles` an hour from `RATE_CHANGE` on.
    """
    rng = np.random.default_rng((seed, number))
    parent = np.array([-1, *(int(rng.integers(max(0, f - 12), f)) for f in range(1, FUNCTIONS))])
    shares = rng.pareto(1.3, FUNCTIONS) + 0.02
    function = int(rng.integers(FUNCTIONS // 2, FUNCTIONS - 2))
    partner = FUNCTIONS - 1  # a sibling, and the new name in a rename
    parent[partner] = parent[function]
    shares[[function, partner]] = 0
    shares *= (1 - 2 * SHARE) / shares.sum()
    shares[[function, partner]] = SHARE
    rollouts, versions, by_version = _simulate_rollouts(rng)
    at_change = [each for each in rollouts if _FIRST_CHANGE <= each <= _LAST_CHANGE]
    hour = int(rng.choice(at_change))
    part = by_version[rollouts.index(hour) + 1 :].sum(axis=0)  # of profiles with the change
    factors = _simulate_noise(rng)
    if plant is Plant.RISE:
        factors[function] *= 1 + 0.05 * part
    elif plant is Plant.SHIFT:
        factors[partner] += 0.3 * part * factors[function]
        factors[function] *= 1 - 0.3 * part
    elif plant is Plant.RENAME:
        factors[partner] = factors[function] * part
        factors[function] *= 1 - part
    cores = rng.uniform(*busy_cores)
    profiles = np.full(HOURS, float(PROFILES_AN_HOUR))
    profiles[RATE_CHANGE:] = later_profiles
    profiles[rng.random(HOURS) < 0.01] = 0  # the server was down, or no instance ran
    rate = shares[:, None] * factors * _simulate_load(rng) * cores * SAMPLES_A_CORE
    series = _build_series(rng, number, parent, rate, profiles, versions, by_version)
    return SimulatedService(series, plant, function, hour, versions[rollouts.index(hour) + 1])


def _simulate_rollouts(
    rng: np.random.Generator,
) -> tuple[list[int], tuple[str, ...], Floats]:
    """Return the first hours of the roll-outs, versions, and each version's part of profiles."""
    rollouts = [int(rng.integers(24, 72))]
    while rollouts[-1] < HOURS - 96:
        rollouts.append(rollouts[-1] + int(rng.integers(36, 120)))
    hours = np.arange(HOURS)
    reached = np.array([np.clip((hours - each + 1) / _ROLLOUT_HOURS, 0, 1) for each in rollouts])
    steps = np.vstack([np.ones(HOURS), reached, np.zeros(HOURS)])
    versions = tuple(f"1.{each}" for each in range(len(rollouts) + 1))
    return rollouts, versions, steps[:-1] - steps[1:]


def _simulate_load(rng: np.random.Generator) -> Floats:
    hours = np.arange(HOURS)
    day = 1 + rng.uniform(0.1, 0.4) * np.sin((hours + rng.integers(0, 24)) * np.pi / 12)
    weekend = np.where((hours // 24) % 7 >= 5, rng.uniform(0.6, 1), 1)
    noise = np.exp(0.03 * rng.standard_normal(HOURS))
    return np.asarray(0.5 * day * weekend * noise / (day * weekend).mean() * 2, np.float64)


def _simulate_noise(rng: np.random.Generator) -> Floats:
    """Return factors around 1, [F, H]: noise over hours, and some functions' own rhythm."""
    noise = 0.008 * rng.standard_normal((FUNCTIONS, HOURS))
    for hour in range(1, HOURS):
        noise[:, hour] += 0.5 * noise[:, hour - 1]
    jobs = rng.random(FUNCTIONS) < 0.1  # cost more at some hours of the day
    phase = rng.integers(0, 24, FUNCTIONS)
    nightly = ((np.arange(HOURS) + phase[:, None]) % 24 < 3) & jobs[:, None]
    return np.asarray(np.exp(noise) * (1 + 0.5 * nightly), np.float64)


def _build_series(
    rng: np.random.Generator,
    number: int,
    parent: NDArray[np.int64],
    rate: Floats,
    profiles: Floats,
    versions: tuple[str, ...],
    by_version: Floats,
) -> ServiceSeries:
    sums = rng.poisson(rate * profiles).astype(np.float64)
    mean = sums / np.maximum(profiles, 1)
    squares = sums * mean + sums + 0.02 * sums * mean  # Poisson, and profiles that differ by 14 %
    below = np.eye(FUNCTIONS)
    for function in range(FUNCTIONS - 1, 0, -1):
        below[parent[function]] += below[function]
    symbols = tuple(
        FunctionSymbol(f"f{each}", f"file{each // 8}.py", "", f"package{each // 25}")
        for each in range(FUNCTIONS)
    )
    total_sums = below @ sums
    total_mean = total_sums / np.maximum(profiles, 1)
    return ServiceSeries(
        f"service-{number}",
        "CPU",
        0,
        symbols,
        parent,
        profiles,
        sums.sum(axis=0),
        sums,
        squares,
        total_sums,
        total_sums * total_mean * 1.02 + total_sums,
        versions,
        by_version * profiles,
    )
