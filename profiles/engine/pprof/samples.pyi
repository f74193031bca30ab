import numpy as np
from numpy.typing import NDArray

from profiles.engine.hashing import KeyTable, SumTable
from profiles.engine.pprof.limits import Allowed, DecodeLimits
from profiles.engine.pprof.symbols import SymbolTable
from profiles.engine.pprof.wire import WireReader

def read_labels(
    reader: WireReader,
    samples: NDArray[np.intp],
    limits: DecodeLimits,
    marks: NDArray[np.uint8],
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]]: ...

class SampleNodes:
    keys: KeyTable
    def __init__(self, width: int, samples: int, allowed: Allowed) -> None: ...
    def table(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def values(self, metrics: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

class SampleReader:
    nodes: SampleNodes
    label_sets: SumTable | None  # None if no sample has labels; the same for `labelled`
    labelled: SumTable | None
    marks: NDArray[np.uint8] | None
    trace_links: int
    def __init__(
        self,
        reader: WireReader,
        symbols: SymbolTable,
        factors: NDArray[np.int64],
        limits: DecodeLimits,
        samples: int,
    ) -> None: ...
    def totals(self) -> NDArray[np.int64]: ...
    def first_negatives(self) -> NDArray[np.int64]: ...
    def read(self, samples: NDArray[np.intp]) -> None: ...
