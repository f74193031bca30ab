"""Who captures what, and when. Pure: no clock, no network, no randomness but what is given."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol

from projects.profile_types import NEVER_ASKED
from scheduler.capture_requests import CaptureRequest, Offer, plan_id

# Who has waited twice as long for its turn is 16 times as likely to get it. Over ten minutes, of
# ten agents with ten slots of a type 66 % get one and 1 % more than two; evenly drawn, it is 41 %
# and 7 %, and much beyond 4 little is gained and one could tell who is next.
_EAGERNESS = 4
# Agents that were sent away come back so many times for each place that is freed: more keeps the
# places filled when some never return, less makes fewer requests in vain.
_TRIES_PER_PLACE = 2
# Those who may come back at once do it within this share of the hold, not all together.
_AT_ONCE = 0.02
# Beyond some 800,000 agents in a deployment requests grow after all: Node's timers end at 24 days,
# and what is longer they take for no time at all.
_LONGEST = 7 * 86_400.0
_RETURNS_PER_SECOND = 500.0  # to a server that starts again


class Rng(Protocol):
    """random.Random, or anything else with its uniform floats in [0, 1)."""

    def random(self) -> float: ...


def plan_capture_requests(
    offers: Iterable[Offer], rates: Mapping[int, float], period: float, start: float, seed: str
) -> list[CaptureRequest]:
    """The slots of the period that begins at `start`, moments spread at random over it.

    `rates` are slots a period by project, for each deployment and type; fractions are met on
    average. The same seed gives a deployment and type the same slots, whoever else is in the list.
    """
    planned: list[CaptureRequest] = []
    for offer in offers:
        expected = rates.get(offer.project, 0.0)
        for kind in sorted(offer.types - NEVER_ASKED):
            draws = _uniform(f"{seed}/{start:.3f}/{offer.deployment}/{kind}")
            for nth in range(int(expected) + (next(draws) < expected % 1)):
                identity = plan_id(offer.deployment, kind, start, nth)
                moment = start + period * next(draws)
                planned.append(
                    CaptureRequest(identity, offer.project, offer.deployment, kind, moment)
                )
    return planned


def _uniform(key: str) -> Iterator[float]:
    """Endless uniform floats in [0, 1), a function of the key alone."""
    block = 0
    while True:
        digest = blake2b(f"{key}/{block}".encode(), digest_size=64).digest()
        for at in range(0, 64, 8):
            yield (int.from_bytes(digest[at : at + 8], "big") >> 11) * 2.0**-53
        block += 1


def choose_agent(
    candidates: Sequence[str], history: Mapping[str, float], now: float, rng: Rng
) -> str:
    """One of the candidates, at random, the likelier the longer it has waited for its turn.

    `history`: when agents last captured the type in question; who never did, or so long ago that
    it was forgotten, has waited as long as the one who waited longest.
    """
    waited = [now - history[agent] if agent in history else None for agent in candidates]
    longest = max((seconds for seconds in waited if seconds is not None), default=1.0)
    weights = [
        max(longest if seconds is None else seconds, 1e-3) ** _EAGERNESS for seconds in waited
    ]
    left = rng.random() * sum(weights)
    for agent, weight in zip(candidates, weights, strict=True):
        left -= weight
        if left < 0:
            return agent
    return candidates[-1]


def next_return(previous: float, now: float, places: int, hold_seconds: float) -> float:
    """The moment at which the next agent that is sent away should come back.

    Returns are spaced evenly, `places` agents for each hold and try: so the requests a minute do
    not grow with the number of agents, and everybody's turn comes up, in order. `previous` is the
    answer for the agent before; one number for a deployment is all there is to remember.
    """
    return max(previous, now) + return_spacing(places, hold_seconds)


def return_spacing(places: int, hold_seconds: float) -> float:
    """Seconds between two returns to one deployment's places."""
    return hold_seconds / (_TRIES_PER_PLACE * places)


def retry_after(returns_in: float, hold_seconds: float, rng: Rng) -> float:
    """For an agent that found no place, whose turn (`next_return`) is in so many seconds."""
    delay = min(max(returns_in, hold_seconds / _TRIES_PER_PLACE), _LONGEST)
    return delay * (0.9 + 0.2 * rng.random())


def retry_at_once(hold_seconds: float, rng: Rng) -> float:
    """For an agent whose hold is over while there are places enough: it is as good as held."""
    return hold_seconds * _AT_ONCE * (0.5 + 0.5 * rng.random())


def retry_when_stopping(held: int, rng: Rng) -> float:
    """For those sent away when the server stops: they return spread out, to the one after it."""
    return 1 + rng.random() * (1 + held / _RETURNS_PER_SECOND)


def retry_when_broken(hold_seconds: float, rng: Rng) -> float:
    """For those sent away because the room itself is out of order."""
    return hold_seconds * (0.5 + 0.5 * rng.random())
