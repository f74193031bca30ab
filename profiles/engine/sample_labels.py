"""The labels of samples: text, or numbers with a unit."""

from collections.abc import Callable, Iterable

from numpy import intp
from numpy.typing import NDArray

from profiles.engine.loops import Wire, fields, numbers
from profiles.engine.tree import Label

_LABEL = 3  # field of a sample


def read_label_sets(
    wire: Wire, samples: NDArray[intp], string: Callable[[int], str]
) -> Iterable[tuple[Label, ...]]:
    """The labels of each sample, sorted; samples is [count, 2], their places."""
    for start, stop in samples.tolist():
        table = numbers(wire, fields(wire, start, stop, _LABEL), 5)
        yield tuple(sorted((_label(row, string) for row in table.tolist()), key=_order))


def _label(row: list[int], string: Callable[[int], str]) -> Label:
    _, key, text, number, unit = row
    if text or not (number or unit):
        return Label(string(key), string(text))
    signed = number - 2**64 if number >= 2**63 else number
    return Label(string(key), str(signed), string(unit))


def _order(label: Label) -> tuple[str, str, str]:
    return label.key, label.value, label.unit or ""
