"""Block cache: recently used blocks, decoded. Blocks never change, so entries never expire.

The cache saves reads and decoding; every query still computes its own sums.
"""

import threading
from collections import OrderedDict

from django.conf import settings

from profiles.engine.blocks import DayBlock, HourBlock
from profiles.storage.block_reader import BlockLocation

AnyBlock = HourBlock | DayBlock


class BlockCache:
    """LRU cache of decoded blocks with a total size of about `most` bytes, for any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._blocks: OrderedDict[BlockLocation, tuple[AnyBlock, int]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def has(self, place: BlockLocation) -> bool:
        return place in self._blocks

    def get(self, place: BlockLocation) -> AnyBlock | None:
        with self._lock:
            found = self._blocks.get(place)
            if found is None:
                return None
            self._blocks.move_to_end(place)
            return found[0]

    def put(self, place: BlockLocation, block: AnyBlock) -> None:
        """Store a block, also to update its size: more of its sections may have been decoded."""
        size = block.size + place.length  # a block of a remote store also keeps its raw bytes
        with self._lock:
            _, before = self._blocks.pop(place, (None, 0))
            self._blocks[place] = block, size
            self._size += size - before
            while self._size > self._most:
                _, (_, gone) = self._blocks.popitem(last=False)
                self._size -= gone


block_cache = BlockCache(settings.KEPT_BLOCK_BYTES)
