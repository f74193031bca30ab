"""Sample labels: texts, or numbers with a unit."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.tree import Label
from profiles.engine.pprof.limits import DecodeLimits
from profiles.engine.pprof.samples import read_labels
from profiles.engine.pprof.symbols import ProfileStrings, check_limit
from profiles.engine.pprof.wire import WireReader


def read_label_sets(
    reader: WireReader,
    samples: NDArray[np.intp],
    strings: ProfileStrings,
    limits: DecodeLimits,
    marks: NDArray[np.uint8],
) -> tuple[tuple[Label, ...], ...]:
    """Read the labels of each sample, sorted; `samples` has their byte ranges, [count, 2].

    Links to traces, which `marks` shows (ProfileStrings.mark_trace_links), are left out.
    Raise `TooLarge` if there are more than `limits.max_sample_labels` labels, or if their texts,
    which are stored with each sample, exceed the limit on the profile's strings.
    """
    rows, label, ends = read_labels(reader, samples, limits, marks)
    sizes = strings.sizes(rows[:, [1, 2, 4]].ravel()).reshape(-1, 3).sum(axis=1)
    check_limit(limits.compute_string_limit(reader.size), int(sizes[label].sum()))
    labels = _labels(rows, strings.text)
    sample = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    ranks = _ranks(labels)[label]
    order = np.lexsort((ranks, sample))
    chosen = [labels[row] for row in label[order].tolist()]
    stops = ends.tolist()
    starts = [0, *stops[:-1]]
    sets = [tuple(chosen[start:stop]) for start, stop in zip(starts, stops, strict=True)]
    for repeated in _with_one_key_twice(sample, ranks[order]):
        sets[repeated] = tuple(sorted(sets[repeated], key=_order))
    return tuple(sets)


def _labels(rows: NDArray[np.uint64], string: Callable[[int], str]) -> list[Label]:
    """Convert rows to labels, column by column: there may be many, and this holds the GIL."""
    often = cache(string)  # for keys and units, which repeat
    _, key, text, number, unit = rows.T
    distinct, text_index = np.unique(text, return_inverse=True)
    texts = list(map(string, distinct.tolist()))
    keys, values = map(often, key.tolist()), [texts[index] for index in text_index.tolist()]
    units: list[str | None] = [None] * len(values)
    numbers, units_of_numbers = np.ascontiguousarray(number).view(np.int64), unit.tolist()
    for row in np.flatnonzero((text == 0) & ((number != 0) | (unit != 0))).tolist():
        values[row], units[row] = str(numbers[row]), often(units_of_numbers[row])
    return list(map(Label, keys, values, units))


def _ranks(labels: Sequence[Label]) -> NDArray[np.int64]:
    """Return the rank of each label's key among all keys.

    Keys are few, and values need no sorting.
    """
    ranks = {key: rank for rank, key in enumerate(sorted({label.key for label in labels}))}
    return np.array([ranks[label.key] for label in labels], np.int64)


def _with_one_key_twice(sample: NDArray[np.int64], ranks: NDArray[np.int64]) -> list[int]:
    """Return the samples, ascending, that have two labels with one key.

    `ranks` are the ranks of the labels' keys, sorted within each sample.
    """
    same = (np.diff(sample) == 0) & (np.diff(ranks) == 0)
    repeated: list[int] = np.unique(sample[1:][same]).tolist()
    return repeated


def _order(label: Label) -> tuple[str, str, str]:
    return label.key, label.value, label.unit or ""
