"""WasteRule: the frames that show a waste, its meaning, and what to do."""

from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise

from profiles.query import FramePattern
from projects.profile_types import ProfileType

_CPU = (ProfileType.CPU,)
CPU_OR_WALL = (ProfileType.CPU, ProfileType.WALL)
LOCK_WAITS = (ProfileType.CONTENTION,)
ALLOCATIONS = (ProfileType.HEAP_ALLOC,)
WALL = (ProfileType.WALL,)
WAITING_RATE = 0.2e9  # ns a second: a fifth of a thread, on average


class Language(StrEnum):
    PYTHON = "Python"
    GO = "Go"
    JAVA = "Java"
    NODE = "Node.js"


@dataclass(frozen=True, slots=True)
class WasteRule:
    """Waste that stacks show surely.

    It is reported if the frames of `pattern` have at least `min_share` of a profile type's value,
    and `min_rate` of it per second.
    """

    id: str
    language: Language
    title: Promise
    meaning: Promise
    advice: Promise
    pattern: FramePattern
    types: tuple[ProfileType, ...] = _CPU  # in which it is looked for
    min_share: float = 0.02
    min_rate: float = 0.0  # value per second of one agent, in the unit of the type's metric

    def is_noticeable(self, value: int, whole: int, duration_ns: int) -> bool:
        """Return whether a part of the whole value of profiles is worth a report."""
        if not whole or value < self.min_share * whole:
            return False
        return value * 1e9 >= self.min_rate * duration_ns
