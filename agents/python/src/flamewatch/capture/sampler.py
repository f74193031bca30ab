"""Sampler interface: an object that captures stacks of this process for some time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.stacks import Stack

Wait = Callable[[float], bool]  # sleeps; returns True if it was ended early


@dataclass(frozen=True, slots=True)
class Capture:
    """Result of one capture."""

    stacks: list[Stack]
    period_ns: int
    started_ns: int  # Unix time
    duration_ns: int  # 0 for a snapshot
    sampler_cpu_ns: int  # since the previous capture, without the thread that called it
    max_depth: int
    dropped: Mapping[str, int]  # reason → samples not reported by an earlier capture of the type
    memory_bytes: int  # of the sampler's tables; 0 if not measured
    notes: Mapping[str, int | str]  # further facts, stored with the profile


class Sampler(Protocol):
    """Interface of samplers. At most one capture runs at a time."""

    name: str

    @property
    def types(self) -> tuple[ProfileType, ...]:
        """Profile types that can be captured now."""

    def stay_apart(self) -> None:
        """Mark the calling thread as the agent's, so that its allocations are not counted."""

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        """Capture stacks until `seconds` have passed or the wait is ended early.

        Raise the errors of the kernel or the interpreter.
        """

    def close(self) -> None:
        """Release everything that was taken from the process."""

    def after_fork(self) -> None:
        """Discard the parent's capture in a forked child."""
