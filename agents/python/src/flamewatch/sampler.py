"""What a sampler is: something that takes stacks of this process for a while."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from flamewatch.profile_types import ProfileType
from flamewatch.stacks import Stack

Wait = Callable[[float], bool]  # sleeps; True if it was ended early


@dataclass(frozen=True, slots=True)
class Capture:
    """What was seen, and what was not."""

    stacks: list[Stack]
    period_ns: int
    started_ns: int  # Unix time
    duration_ns: int  # 0 for a moment
    sampler_cpu_ns: int  # used since the capture before, beside the thread that called it
    max_depth: int
    dropped: Mapping[str, int]  # reason → samples that no earlier capture of the type reported
    memory_bytes: int  # of the sampler's tables; 0 where nobody counts them
    notes: Mapping[str, int | str]  # what else is worth knowing: travels with the profile


class Sampler(Protocol):
    """One capture at a time."""

    name: str

    @property
    def types(self) -> tuple[ProfileType, ...]:
        """What can be captured now."""

    def stay_apart(self) -> None:
        """The calling thread is the agent's: what it allocates is not the host's."""

    def capture(self, kind: ProfileType, seconds: float, wait: Wait) -> Capture:
        """What was seen until `seconds` were over or the wait was ended early.

        Raises what the kernel or the interpreter refuses.
        """

    def close(self) -> None:
        """Give back what was taken from the process."""

    def after_fork(self) -> None:
        """In a forked child: the parent's capture does not go on here."""
