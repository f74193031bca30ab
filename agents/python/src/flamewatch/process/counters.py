"""Statistics of an agent. Only its worker thread writes them; any thread may read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Counters:
    state: str = "starting"
    reason: str = ""
    last_error: str = ""
    profiles_sent: int = 0
    profiles_dropped: int = 0
    samples: int = 0
    samples_dropped: int = 0
    dropped_because: dict[str, int] = field(default_factory=dict)  # reason → samples
    errors: int = 0
    cpu_ns: int = 0
    memory_bytes: int = 0  # tables of the largest capture
    next_try: float = 0.0  # time of the next handshake, by time.monotonic()

    def add_dropped(self, samples: Mapping[str, int]) -> None:
        """Add dropped samples. `samples` maps reasons to counts."""
        for reason, count in samples.items():
            if count:
                self.samples_dropped += count
                self.dropped_because[reason] = self.dropped_because.get(reason, 0) + count
