import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import Forest, StringPool
from profiles.engine.hashing import KeyTable

class StoredTreeReader:
    def forest_nodes(self) -> NDArray[np.int32]: ...

class FunctionMerger(StoredTreeReader):
    def __init__(self, forest: Forest) -> None: ...
    def read(
        self, data: bytes | memoryview, at: int, columns: list[list[int]], metrics: int
    ) -> list[int]: ...
    def add(self, metrics: list[tuple[int, int, int]]) -> bool: ...
    def sparse_values(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

class LineMerger(StoredTreeReader):
    forest: Forest
    function_ids: KeyTable
    strings: StringPool
    def __init__(self, max_nodes: int, limit: str) -> None: ...
    def clear(self, metrics: int) -> None: ...
    def read(
        self,
        data: bytes | memoryview,
        at: int,
        columns: list[list[int]],
        metrics: int,
        mappings: list[list[int]],
    ) -> bool: ...
    def name(self, data: bytes | memoryview, ends: NDArray[np.int64]) -> None: ...
    def add(self, metrics: list[tuple[int, int, int]]) -> int: ...
    def sparse_values(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def add_block(
        self,
        function_id: NDArray[np.uint64],
        name: NDArray[np.int32],
        file: NDArray[np.int32],
        function: NDArray[np.int32],
        line: NDArray[np.int32],
        mapping: NDArray[np.int32],
        start_line: NDArray[np.int32],
    ) -> NDArray[np.int32]: ...
    def table(self) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]: ...
