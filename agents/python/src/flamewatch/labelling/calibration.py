"""Calibration of the C sampler for labels: example contexts show where they are stored."""

from contextvars import Context, ContextVar
from typing import Any

from flamewatch.labelling.context import RUNNING
from flamewatch.labelling.encoding import encode

# So many variables that the context's hash trie has a node of each kind.
_OTHERS = [ContextVar[int](f"flamewatch.other{n}", default=0) for n in range(40)]
_EXAMPLE = encode((("flamewatch", "example"),))


def learn(native: Any) -> str | None:
    """Calibrate the sampler. Return the reason why labels cannot be read here, or None."""
    alone, crowded = Context(), Context()
    alone.run(RUNNING.set, _EXAMPLE)

    def learn_in_a_crowd() -> Any:
        for number, variable in enumerate(_OTHERS):
            variable.set(number)
        RUNNING.set(_EXAMPLE)
        return native.read_labels_of(RUNNING, crowded, alone, _EXAMPLE)

    reason: str | None = crowded.run(learn_in_a_crowd)
    return reason
