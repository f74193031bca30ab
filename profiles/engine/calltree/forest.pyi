import numpy as np
from numpy.typing import NDArray

from profiles.engine.hashing import KeyTable, SumTable

class NodeTable:
    sums: SumTable
    count: int
    def __init__(self, width: int, allowed: int, limit: str) -> None: ...
    def table(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...

class Forest:
    nodes: NodeTable
    frames: KeyTable
    def __init__(self, width: int, max_nodes: int, limit: str) -> None: ...
    def add_frames(
        self, ids: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def add(
        self,
        parent: NDArray[np.int32],
        frame: NDArray[np.int32],
        forest_frame: NDArray[np.int32],
        sampled: NDArray[np.int32],
        values: NDArray[np.int64],
        columns: NDArray[np.int32],
    ) -> NDArray[np.int32]: ...

class StringPool:
    ids: KeyTable
    def __init__(self) -> None: ...
    def insert(
        self, data: bytes | memoryview, ends: NDArray[np.int64], index: NDArray[np.int32]
    ) -> NDArray[np.int32]: ...
    def take(self, numbers: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]: ...
    def table(self) -> tuple[bytes, NDArray[np.int64]]: ...

def node_totals(parent: NDArray[np.int32], own: NDArray[np.int64]) -> NDArray[np.int64]: ...
def node_depths(parent: NDArray[np.int32]) -> NDArray[np.int32]: ...
def preorder_nodes(parent: NDArray[np.int32], ranked: NDArray[np.int64]) -> NDArray[np.int64]: ...
def sum_by_function(
    parent: NDArray[np.int32],
    order: NDArray[np.int64],
    function: NDArray[np.int32],
    own: NDArray[np.int64],
    total: NDArray[np.int64],
    stacks: NDArray[np.int64],
    functions: int,
) -> NDArray[np.int64]: ...
def mark_outermost(
    parent: NDArray[np.int32], function: NDArray[np.int32], functions: int
) -> NDArray[np.uint8]: ...
def number_by_first_use(
    values: NDArray[np.int32], below: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
