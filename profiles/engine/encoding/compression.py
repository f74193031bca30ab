"""Compression with zstd in frames of limited size, and the checksum of stored bytes."""

import threading
from collections.abc import Sequence

import zstandard
from isal import isal_zlib

MAX_BYTES = 2**30  # of one decompressed frame
MAX_AT_ONCE = 2**25  # of the frames of one decompress_all, decompressed
FAST_COMPRESSION_LEVEL = 1
CHECKSUM_BYTES = 4

# Exceptions that damaged bytes may cause, here and where columns are made of them. RecursionError:
# a value in a JSON header may be nested deeper than Python's stack.
DAMAGE = (
    *(zstandard.ZstdError, ValueError, KeyError, TypeError, OverflowError, IndexError),
    RecursionError,
)

# Decompressed bytes, in the buffer that the decompressor returned.
Unpacked = bytes | memoryview


def compress(data: bytes, compression_level: int = FAST_COMPRESSION_LEVEL) -> bytes:
    """Compress to a zstd frame."""
    return _local.compressor(compression_level).compress(data)


def decompress(frame: bytes | memoryview) -> bytes:
    """Decompress a frame. Raise `ValueError` or `ZstdError` if it is invalid or above MAX_BYTES."""
    size = zstandard.frame_content_size(frame)
    if not 0 <= size <= MAX_BYTES:
        raise ValueError(f"its header claims {size} bytes")
    return _local.decompressor.decompress(frame, allow_extra_data=False)


def decompress_all(frames: Sequence[memoryview]) -> Sequence[Unpacked]:
    """Decompress many frames in one call, which releases the GIL once.

    Raise `ValueError` or `ZstdError` if a frame is invalid, or all together exceed MAX_AT_ONCE.
    """
    sizes = [zstandard.frame_content_size(frame) for frame in frames]
    if min(sizes, default=0) < 0 or sum(sizes) > MAX_AT_ONCE:
        raise ValueError(f"their headers claim {sum(sizes)} bytes")
    if not frames:
        return []
    unpacked = _local.decompressor.multi_decompress_to_buffer(list(frames))
    return [memoryview(unpacked[i]) for i in range(len(frames))]  # type: ignore[arg-type]


def checksum(body: bytes | memoryview) -> int:
    """Return the CRC-32 of stored bytes."""
    return int(isal_zlib.crc32(body))


class _Local(threading.local):
    """Per-thread zstd contexts: they are expensive to create, and not thread-safe."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()
        self._compressors: dict[int, zstandard.ZstdCompressor] = {}

    def compressor(self, compression_level: int) -> zstandard.ZstdCompressor:
        if compression_level not in self._compressors:
            self._compressors[compression_level] = zstandard.ZstdCompressor(level=compression_level)
        return self._compressors[compression_level]


_local = _Local()
