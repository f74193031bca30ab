"""Compression: zstd frames of bounded size, and the checksum of stored bytes."""

import threading
from collections.abc import Sequence

import zstandard
from isal import isal_zlib

MAX_BYTES = 2**30  # of one frame, unpacked
MAX_AT_ONCE = 2**25  # of many
FAST = 1
CHECKSUM = 4  # bytes

# What reading damaged bytes may raise, here and in whoever makes columns of them.
DAMAGE = (zstandard.ZstdError, ValueError, KeyError, TypeError, OverflowError, IndexError)

# What was unpacked, as the buffer that it is in.
Unpacked = bytes | memoryview


def compress(data: bytes, level: int = FAST) -> bytes:
    return _local.compressor(level).compress(data)


def decompress(frame: bytes | memoryview) -> bytes:
    """ValueError or ZstdError if it is no frame, or would be larger than MAX_BYTES."""
    size = zstandard.frame_content_size(frame)
    if not 0 <= size <= MAX_BYTES:
        raise ValueError(f"it claims to be {size} bytes large")
    return _local.decompressor.decompress(frame, allow_extra_data=False)


def decompress_all(frames: Sequence[memoryview]) -> Sequence[Unpacked]:
    """The same of many frames in one go, for which the GIL is given back once.

    ValueError or ZstdError if any is no frame, or all together are larger than MAX_AT_ONCE.
    """
    sizes = [zstandard.frame_content_size(frame) for frame in frames]
    if min(sizes, default=0) < 0 or sum(sizes) > MAX_AT_ONCE:
        raise ValueError(f"they claim to be {sum(sizes)} bytes large")
    if not frames:
        return []
    unpacked = _local.decompressor.multi_decompress_to_buffer(list(frames))
    return [memoryview(unpacked[i]) for i in range(len(frames))]  # type: ignore[arg-type]


def checksum(body: bytes | memoryview) -> int:
    return int(isal_zlib.crc32(body))


class _Local(threading.local):
    """zstd's contexts are costly to make, and may be used by one thread at a time."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()
        self._compressors: dict[int, zstandard.ZstdCompressor] = {}

    def compressor(self, level: int) -> zstandard.ZstdCompressor:
        if level not in self._compressors:
            self._compressors[level] = zstandard.ZstdCompressor(level=level)
        return self._compressors[level]


_local = _Local()
