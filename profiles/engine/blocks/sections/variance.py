"""Section of a day block with sums of squares and counts, run-length encoded.

Runs are long because most callers have one callee, and so equal totals.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.row_variance import GroupVariance
from profiles.engine.blocks.sections.container import Container
from profiles.engine.blocks.sections.decoded_columns import Arrays
from profiles.engine.blocks.sections.dictionary import FunctionTree
from profiles.engine.blocks.sections.packed_columns import Column, PackedColumnReader, pack
from profiles.engine.blocks.sparse_rows import outermost_nodes

_EXACT = 2.0**62  # float64 values below this are stored as integers

Table = NDArray[np.float64]


def write_variance(variance: GroupVariance, tree: FunctionTree) -> bytes:
    """Encode sums of squares and counts of one metric.

    Totals of a function with a single outermost node equal those of the node and are not stored.
    """
    several, _ = _outermost(tree, variance.functions.shape[2])
    functions = variance.functions
    columns: list[Column] = []
    whole = []
    for square, present in (
        (variance.square, variance.present),
        (functions[:, 0], functions[:, 1]),
        (functions[:, 2][:, several], functions[:, 3][:, several]),
    ):
        runs, squares, counts = _runs(square.ravel(), present.ravel())
        exact = not len(squares) or float(squares.max()) < _EXACT
        whole.append(exact)
        columns += [runs, squares.astype(np.int64) if exact else squares.view(np.int64), counts]
    return pack({"whole": whole}, columns)


def read_variance(
    container: Container, metric: int, tree: FunctionTree, functions: int, groups: int
) -> GroupVariance:
    """Read the sums of squares and counts of one metric."""
    several, node = _outermost(tree, functions)
    widths = [len(tree.parent), functions, len(several)]
    decode = partial(_decode_runs, groups, widths)
    runs = container.read(f"moments.{metric}", decode, is_kept=False).arrays
    tables = _tables(runs, groups, widths)
    square, present = next(tables)
    of_function = np.zeros((groups, 4, functions))
    of_function[:, 0], of_function[:, 1] = next(tables)
    of_function[:, 2], of_function[:, 3] = square[:, node], present[:, node]
    of_function[:, 2, several], of_function[:, 3, several] = next(tables)
    return GroupVariance(square, present, of_function)


def _decode_runs(groups: int, widths: list[int], columns: PackedColumnReader) -> Arrays:
    """Return lengths, squares and counts of the runs of each table."""
    arrays: list[NDArray[Any]] = []
    for width, whole in zip(widths, columns.head["whole"], strict=True):
        runs = columns.values()
        squares, counts = columns.values(len(runs)), columns.index(2**31, len(runs))
        if len(runs) and (int(runs.min()) < 1 or int(runs.max()) > groups * width):
            raise ValueError("a run is empty")
        if int(runs.sum()) != groups * width:
            raise ValueError(f"variances of {int(runs.sum())} values; expected {groups * width}")
        square = squares.astype(np.float64) if whole else squares.view(np.float64)
        arrays += [runs, square, counts.astype(np.float64)]
    return tuple(arrays)


def _tables(arrays: Arrays, groups: int, widths: list[int]) -> Iterator[tuple[Table, Table]]:
    for i, width in enumerate(widths):
        runs, square, counts = arrays[3 * i : 3 * i + 3]
        yield (
            np.repeat(square, runs).reshape(groups, width),
            np.repeat(counts, runs).reshape(groups, width),
        )


def _outermost(tree: FunctionTree, functions: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the functions with several outermost nodes, and one such node of each function.

    A node is outermost if none of its ancestors is of the same function.
    """
    count, node = outermost_nodes(tree.parent, tree.function, functions)
    return np.flatnonzero(count > 1), node


def _runs(square: Table, present: Table) -> tuple[NDArray[np.int64], Table, NDArray[np.int64]]:
    """Return (lengths, squares, counts) of the runs of equal pairs."""
    if not len(square):
        return np.zeros(0, np.int64), square, np.zeros(0, np.int64)
    changes = (np.diff(square) != 0) | (np.diff(present) != 0)
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    lengths = np.diff(starts, append=len(square))
    return lengths, square[starts], present[starts].astype(np.int64)
