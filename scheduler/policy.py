"""Scheduling policy: planned capture requests, choice of agents and back-off times.

The functions are pure: they use no clock and no network, and randomness only as an argument.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol

from projects.profile_types import NEVER_REQUESTED, ProfileType
from scheduler.capture_requests import CaptureRequest, CaptureTarget, plan_id

# Exponent of the waiting time in an agent's weight: twice the time since the last capture makes an
# agent 16 times as likely. With ten agents and ten requests of a type in ten minutes, 66 % of the
# agents get exactly one and 1 % more than two; a uniform choice gives 41 % and 7 %. Exponents much
# above 4 gain little and make the choice predictable.
_WAIT_EXPONENT = 4
# Returning agents for each parked agent that leaves the long-poll queue. A higher value keeps the
# queue full when some agents never return, a lower one causes fewer requests that find it full.
_RETURNS_PER_PARKED = 2
# Agents that may return at once are spread over this fraction of the poll timeout.
_AT_ONCE = 0.02
# Longest back-off in seconds. Timers of Node.js overflow at 24 days and then fire immediately. The
# cap makes the request rate grow with the number of agents beyond some 800,000 in a deployment.
_LONGEST = 7 * 86_400.0
_RETURNS_PER_SECOND = 500.0  # returning agents after a restart of the server


class Rng(Protocol):
    """Source of uniform floats in [0, 1), such as random.Random."""

    def random(self) -> float: ...


def plan_capture_requests(
    targets: Iterable[CaptureTarget],
    rates: Mapping[int, float],
    period: float,
    start: float,
    seed: str,
    adaptive: Mapping[tuple[int, ProfileType], float] | None = None,
) -> list[CaptureRequest]:
    """Return the capture requests of one period, at random times within it.

    `start` is Unix time and `period` its length, both in seconds. `rates` maps a project to the
    number of requests per period for each deployment and type; fractions are met on average;
    `adaptive` has those of a deployment and type that differ. The same seed, period and rate give a
    deployment and type the same requests, independent of the others.
    """
    planned: list[CaptureRequest] = []
    for target in targets:
        rate = rates.get(target.project, 0.0)
        for kind in sorted(target.types - NEVER_REQUESTED):
            expected = (adaptive or {}).get((target.deployment, kind), rate)
            draws = _uniform(f"{seed}/{start:.3f}/{target.deployment}/{kind}")
            for nth in range(int(expected) + (next(draws) < expected % 1)):
                identity = plan_id(target.deployment, kind, start, nth)
                scheduled = start + period * next(draws)
                planned.append(
                    CaptureRequest(identity, target.project, target.deployment, kind, scheduled)
                )
    return planned


def _uniform(key: str) -> Iterator[float]:
    """Yield an endless sequence of uniform floats in [0, 1) that depends only on the key."""
    block = 0
    while True:
        digest = blake2b(f"{key}/{block}".encode(), digest_size=64).digest()
        for start in range(0, 64, 8):
            yield (int.from_bytes(digest[start : start + 8], "big") >> 11) * 2.0**-53
        block += 1


def choose_agent(
    candidates: Sequence[str], history: Mapping[str, float], now: float, rng: Rng
) -> str:
    """Choose one of the candidates at random, weighted by the time since its last capture.

    `history` maps agents to the Unix time of their last capture of the requested type. An agent
    without an entry counts like the candidate that has waited longest.
    """
    waited = [now - history[agent] if agent in history else None for agent in candidates]
    longest = max((seconds for seconds in waited if seconds is not None), default=1.0)
    weights = [
        max(longest if seconds is None else seconds, 1e-3) ** _WAIT_EXPONENT for seconds in waited
    ]
    left = rng.random() * sum(weights)
    for agent, weight in zip(candidates, weights, strict=True):
        left -= weight
        if left < 0:
            return agent
    return candidates[-1]


def next_return(previous: float, now: float, max_parked: int, poll_timeout: float) -> float:
    """Return the Unix time at which the next agent that backs off should return.

    Returns to a deployment are spaced by `return_spacing`, so that the request rate does not grow
    with the number of agents and all agents return in the order in which they backed off.
    `previous` is the result for the agent before, the only state that a deployment needs.
    """
    return max(previous, now) + return_spacing(max_parked, poll_timeout)


def return_spacing(max_parked: int, poll_timeout: float) -> float:
    """Return the seconds between two returning agents of a deployment.

    `max_parked` is the number of agents that a deployment may park; `poll_timeout` is in seconds.
    """
    return poll_timeout / (_RETURNS_PER_PARKED * max_parked)


def retry_after(returns_in: float, poll_timeout: float, rng: Rng) -> float:
    """Return the back-off in seconds for an agent that found the queue full, with ±10 % jitter.

    `returns_in` is the time in seconds until its `next_return`.
    """
    delay = min(max(returns_in, poll_timeout / _RETURNS_PER_PARKED), _LONGEST)
    return delay * (0.9 + 0.2 * rng.random())


def retry_at_once(poll_timeout: float, rng: Rng) -> float:
    """Return the back-off for an agent at the poll timeout while the queue is not full.

    It is so short that the agent practically stays parked.
    """
    return poll_timeout * _AT_ONCE * (0.5 + 0.5 * rng.random())


def retry_when_stopping(parked: int, rng: Rng) -> float:
    """Return the back-off when the server stops, in seconds.

    It spreads the return of `parked` agents to the next server process.
    """
    return 1 + rng.random() * (1 + parked / _RETURNS_PER_SECOND)


def retry_when_broken(poll_timeout: float, rng: Rng) -> float:
    """Return the back-off while the long-poll queue is unavailable, in seconds."""
    return poll_timeout * (0.5 + 0.5 * rng.random())
