import numpy as np
from numpy.typing import NDArray

from profiles.engine.pprof.wire import WireReader

ABSENT: int

def children(
    reader: WireReader, messages: NDArray[np.intp], number: int, limit: str, most: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]: ...
def scalars(
    reader: WireReader, messages: NDArray[np.intp], width: int
) -> tuple[NDArray[np.uint64], NDArray[np.int8]]: ...
def numbers(
    reader: WireReader, messages: NDArray[np.intp], number: int, limit: str, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def count_elements(
    reader: WireReader, messages: NDArray[np.intp], number: int, fixed: bool
) -> NDArray[np.int64]: ...
