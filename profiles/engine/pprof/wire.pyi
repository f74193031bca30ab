import numpy as np
from numpy.typing import NDArray

from profiles.engine.pprof.limits import DecodeLimits

class WireReader:
    size: int
    def __init__(self, data: bytes, kind: str = "pprof profile") -> None: ...

class ProfileFields:
    ranges: dict[str, NDArray[np.intp]]
    scalars: dict[str, int]
    has_comments: bool
    def __init__(self, reader: WireReader, limits: DecodeLimits) -> None: ...

def varint_fields(
    reader: WireReader, ranges: NDArray[np.intp], width: int
) -> NDArray[np.uint64]: ...
def comment_strings(reader: WireReader, most: int) -> list[int]: ...

class RowIndex:
    def __init__(self, kind: str, table: NDArray[np.uint64]) -> None: ...
