import numpy as np
from numpy.typing import NDArray

def decode_nodes(steps: NDArray[np.int32], starts: NDArray[np.int64], below: int) -> None: ...
def sum_rows(
    starts: NDArray[np.int64],
    nodes: NDArray[np.int32],
    values: NDArray[np.int64],
    rows: NDArray[np.uint8],
    target: NDArray[np.int32],
    sums: NDArray[np.int64],
    used: NDArray[np.uint8],
) -> None: ...
def mark_ancestors(parent: NDArray[np.int32], used: NDArray[np.uint8]) -> None: ...
def groups_from_ends(ends: NDArray[np.int64], count: int) -> NDArray[np.int32]: ...
def sort_by_group(
    group: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def sort_values(
    rank: NDArray[np.int64], lengths: NDArray[np.int64], node: NDArray[np.int32], nodes: int
) -> NDArray[np.int64]: ...

class RowVarianceSums:
    def __init__(
        self,
        parent: NDArray[np.int32],
        function: NDArray[np.int32],
        has_values: NDArray[np.uint8],
        functions: int,
        groups: int,
    ) -> None: ...
    def add(
        self,
        starts: NDArray[np.int64],
        nodes: NDArray[np.int32],
        values: NDArray[np.int64],
        node_of_line: NDArray[np.int32],
        rows: NDArray[np.int64],
        group: NDArray[np.int32],
    ) -> None: ...
    def tables(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

def mark_nodes(
    starts: NDArray[np.int64],
    nodes: NDArray[np.int32],
    target: NDArray[np.int32],
    rows: NDArray[np.int64],
    marks: NDArray[np.uint8],
) -> None: ...
def outermost_nodes(
    parent: NDArray[np.int32], function: NDArray[np.int32], functions: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def add_table(
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None: ...
