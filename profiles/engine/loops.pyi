from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.engine.pprof.limits import Allowed, DecodeLimits

def text_ids(strings: Sequence[str]) -> NDArray[np.uint64]: ...
def text_ids_of(text: bytes, ends: NDArray[np.int64]) -> NDArray[np.uint64]: ...
def function_ids(
    texts: NDArray[np.uint64], name: NDArray[np.int32], file: NDArray[np.int32]
) -> NDArray[np.uint64]: ...
def frame_ids(functions: NDArray[np.uint64], line: NDArray[np.int32]) -> NDArray[np.uint64]: ...
def node_ids(
    parent: NDArray[np.int32], frame: NDArray[np.int32], frames: NDArray[np.uint64]
) -> NDArray[np.uint64]: ...

class Keys:
    count: int
    def __init__(self, allowed: int, limit: str, expected: int = ..., unit: str = ...) -> None: ...
    def enter_all(
        self, keys: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def has_all(self, keys: NDArray[np.uint64]) -> bool: ...
    def table(self) -> NDArray[np.uint64]: ...

class Sums:
    keys: Keys
    def __init__(self, width: int, allowed: int, limit: str) -> None: ...
    def clear(self) -> None: ...
    def table(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]: ...

class Nodes:
    sums: Sums
    count: int
    def __init__(self, width: int, allowed: int, limit: str) -> None: ...
    def table(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...

class Forest:
    nodes: Nodes
    frames: Keys
    def __init__(self, width: int, max_nodes: int, limit: str) -> None: ...
    def enter_frames(
        self, ids: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def add(
        self,
        parent: NDArray[np.int32],
        frame: NDArray[np.int32],
        frame_rows: NDArray[np.int32],
        sampled: NDArray[np.int32],
        values: NDArray[np.int64],
        columns: NDArray[np.int32],
    ) -> NDArray[np.int32]: ...

def erfcs(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def add_rows(
    sums: Sums,
    keys: NDArray[np.uint64],
    values: NDArray[np.int64],
    columns: NDArray[np.int32],
) -> None: ...
def sum_up(parent: NDArray[np.int32], own: NDArray[np.int64]) -> NDArray[np.int64]: ...
def count_down(parent: NDArray[np.int32]) -> NDArray[np.int32]: ...
def follow(parent: NDArray[np.int32], ranked: NDArray[np.int64]) -> NDArray[np.int64]: ...
def gather(
    parent: NDArray[np.int32],
    order: NDArray[np.int64],
    function: NDArray[np.int32],
    own: NDArray[np.int64],
    total: NDArray[np.int64],
    stacks: NDArray[np.int64],
    functions: int,
) -> NDArray[np.int64]: ...
def first_uses(
    values: NDArray[np.int32], below: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def outermost(
    parent: NDArray[np.int32], function: NDArray[np.int32], functions: int
) -> NDArray[np.uint8]: ...

class Wire:
    size: int
    def __init__(self, raw: bytes) -> None: ...

class Spans:
    places: dict[str, NDArray[np.intp]]
    scalars: dict[str, int]
    commented: bool
    def __init__(self, wire: Wire, limits: DecodeLimits) -> None: ...

def numbers(wire: Wire, spans: NDArray[np.intp], width: int) -> NDArray[np.uint64]: ...
def label_rows(
    wire: Wire, samples: NDArray[np.intp], limits: DecodeLimits
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]]: ...
def comments(wire: Wire, most: int) -> list[int]: ...

class Index:
    def __init__(self, kind: str, table: NDArray[np.uint64]) -> None: ...

class Strings:
    def __init__(self, wire: Wire, at: NDArray[np.intp]) -> None: ...
    def text(self, string: int) -> str: ...
    def replaced(self, string: int) -> bool: ...
    def sizes(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]: ...

def within(allowed: Allowed, met: int) -> None: ...

class Symbols:
    strings: Strings
    def __init__(
        self,
        wire: Wire,
        strings: Strings,
        places: dict[str, NDArray[np.intp]],
        limits: DecodeLimits,
    ) -> None: ...
    def used(
        self, of_nodes: NDArray[np.int32]
    ) -> tuple[
        bytes,
        NDArray[np.int64],
        NDArray[np.uint64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
    ]: ...

class CallNodes:
    def table(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def sampled(self, kept: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

class Stacks:
    nodes: CallNodes
    label_sets: Sums | None  # None if no sample has labels; the same for `labelled`
    labelled: Sums | None
    def __init__(
        self,
        wire: Wire,
        symbols: Symbols,
        factors: NDArray[np.int64],
        limits: DecodeLimits,
        samples: int,
    ) -> None: ...
    def read(self, samples: NDArray[np.intp]) -> None: ...
    def totals(self) -> NDArray[np.int64]: ...
    def below_zero(self) -> NDArray[np.int64]: ...

def packed(columns: Sequence[NDArray[Any]]) -> tuple[list[tuple[int, int]], NDArray[np.uint8]]: ...
def divisor(column: NDArray[np.int64]) -> int: ...
def widen(
    body: bytes | memoryview, at: int, count: int, width: int, below: int
) -> NDArray[np.int32]: ...
def parents(back: NDArray[np.int32]) -> None: ...
def ascending(steps: NDArray[np.int32], below: int) -> None: ...
def pairs(
    first: NDArray[np.int32], second: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def unshuffle(
    data: bytes, at: int, count: int, width: int, base: int, factor: int
) -> NDArray[np.uint64]: ...
def unshuffle_index(
    data: bytes, at: int, count: int, width: int, base: int, factor: int, below: int
) -> NDArray[np.int32]: ...
def unfold(
    ups: NDArray[np.int32], refs: NDArray[np.int32], functions: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def cell_nodes(steps: NDArray[np.int32], starts: NDArray[np.int64], below: int) -> None: ...
def sum_cells(
    starts: NDArray[np.int64],
    nodes: NDArray[np.int32],
    values: NDArray[np.int64],
    rows: NDArray[np.uint8],
    place: NDArray[np.int32],
    sums: NDArray[np.int64],
    used: NDArray[np.uint8],
) -> None: ...
def mark_parents(parent: NDArray[np.int32], used: NDArray[np.uint8]) -> None: ...
def in_groups(
    group: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def sorted_cells(
    rank: NDArray[np.int64], lengths: NDArray[np.int64], node: NDArray[np.int32], nodes: int
) -> NDArray[np.int64]: ...
def add_table(
    sums: NDArray[np.float64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None: ...
def place_in(ends: NDArray[np.int64], count: int) -> NDArray[np.int32]: ...

class RowMoments:
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

def mark_cells(
    starts: NDArray[np.int64],
    nodes: NDArray[np.int32],
    place: NDArray[np.int32],
    rows: NDArray[np.int64],
    marks: NDArray[np.uint8],
) -> None: ...

class MomentSums:
    def __init__(self) -> None: ...
    def grow(self, nodes: int, functions: int) -> None: ...
    def add_tree(
        self,
        parent: NDArray[np.int32],
        place: NDArray[np.int32],
        function: NDArray[np.int32],
        functions: NDArray[np.int32],
        sampled: NDArray[np.int32],
        values: NDArray[np.int64],
        is_new: bool,
    ) -> None: ...
    def add_nodes(
        self,
        parent: NDArray[np.int32],
        place: NDArray[np.int32],
        function: NDArray[np.int32],
        square: NDArray[np.float64],
        present: NDArray[np.float64],
    ) -> None: ...
    def add_functions(self, rows: NDArray[np.int32], columns: NDArray[np.float64]) -> None: ...
    def tables(
        self, nodes: int, functions: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

def outermost_nodes(
    parent: NDArray[np.int32], function: NDArray[np.int32], functions: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...

class PackedTrees:
    def __init__(self, forest: Forest) -> None: ...
    def read(
        self, data: bytes | memoryview, at: int, columns: list[list[int]], metrics: int
    ) -> list[int]: ...
    def add(self, wanted: list[tuple[int, int, int]]) -> bool: ...
    def add_moments(self, sums: MomentSums, is_new: bool) -> None: ...
    def cells(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

class TextPool:
    def __init__(self) -> None: ...
    def enter(
        self, text: bytes, ends: NDArray[np.int64], index: NDArray[np.int32]
    ) -> NDArray[np.int32]: ...
    def take(self, numbers: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]: ...
    def table(self) -> tuple[bytes, NDArray[np.int64]]: ...

class LineTrees:
    forest: Forest
    texts: TextPool
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
    def name(self, text: bytes, ends: NDArray[np.int64]) -> None: ...
    def add(self, wanted: list[tuple[int, int, int]]) -> int: ...
    def places(self) -> NDArray[np.int32]: ...
    def cells(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def enter_block(
        self,
        function_id: NDArray[np.uint64],
        name: NDArray[np.int32],
        file: NDArray[np.int32],
        function: NDArray[np.int32],
        line: NDArray[np.int32],
        mapping: NDArray[np.int32],
    ) -> NDArray[np.int32]: ...
    def table(self) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]: ...
