"""Fakes for unit tests of single modules of the agent."""

from collections.abc import Sequence

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture, Wait
from flamewatch.capture.stacks import Frame, Stack
from flamewatch.config import Config

KEY = "fw_abcdefghij_0123456789abcdefghijklmnopqrstuvABCDEF"
WORK = Frame("work", "/srv/shop/orders.py", 12, 10)
MAIN = Frame("main", "/srv/shop/orders.py", 30, 28)


def config(url: str = "http://127.0.0.1:1", **changes: str) -> Config:
    fields = {"key": KEY, "project": "-", "service": "checkout", "version": "1.4.2", "zone": "eu-1"}
    return Config(url=url, **(fields | changes))  # type: ignore[arg-type]


def capture(*stacks: Stack, **changes: object) -> Capture:
    fields: dict[str, object] = {
        "stacks": list(stacks) or [Stack((WORK, MAIN), 30_000_000, 3, 7, "", cut=False)],
        "period_ns": 10_000_000,
        "started_ns": 1_700_000_000_000_000_000,
        "duration_ns": 10_000_000_000,
        "sampler_cpu_ns": 5_000,
        "max_depth": 512,
        "dropped": {"torn": 0},
        "memory_bytes": 70_000,
        "notes": {},
    }
    return Capture(**(fields | changes))  # type: ignore[arg-type]


class FakeSampler:
    """Sampler that returns or raises the given outcomes in order."""

    name = "fake"

    def __init__(self, *outcomes: Capture | Exception, types: Sequence[ProfileType] = ()) -> None:
        self.outcomes = list(outcomes) or [capture()]
        self.types = tuple(types) or tuple(ProfileType)
        self.captures: list[tuple[ProfileType, float]] = []
        self.closed = False

    def stay_apart(self) -> None:
        pass

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        self.captures.append((kind, seconds))
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        self.closed = True

    def after_fork(self) -> None:
        pass


class FakeBell:
    """Bell without real waiting: it records the pauses, and rings after `waits` of them."""

    def __init__(self, waits: int) -> None:
        self.pauses: list[float] = []
        self._waits = waits

    @property
    def rung(self) -> bool:
        return len(self.pauses) >= self._waits

    def wait(self, seconds: float) -> bool:
        if not self.rung:
            self.pauses.append(seconds)
        return self.rung

    def ring(self) -> None:
        self._waits = 0


def upper(low: float, high: float) -> float:
    """Return the upper bound, instead of a random number."""
    return high
