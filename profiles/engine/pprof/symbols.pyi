import numpy as np
from numpy.typing import NDArray

from profiles.engine.hashing import KeyTable
from profiles.engine.pprof.limits import Allowed, DecodeLimits
from profiles.engine.pprof.wire import RowIndex, WireReader

class ProfileStrings:
    def __init__(self, reader: WireReader, ranges: NDArray[np.intp]) -> None: ...
    def is_changed(self, string: int) -> bool: ...
    def mark_trace_links(self) -> NDArray[np.uint8]: ...
    def sizes(self, numbers: NDArray[np.uint64]) -> NDArray[np.int64]: ...
    def text(self, string: int) -> str: ...

def check_limit(allowed: Allowed, value: int) -> None: ...

class SymbolTable:
    strings: ProfileStrings
    location_index: RowIndex
    first: memoryview
    frame_of: memoryview
    frames: KeyTable
    has_replaced_function_ids: bool
    def __init__(
        self,
        reader: WireReader,
        strings: ProfileStrings,
        ranges: dict[str, NDArray[np.intp]],
        limits: DecodeLimits,
    ) -> None: ...
    def used_frames(
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
        NDArray[np.int32],
    ]: ...
