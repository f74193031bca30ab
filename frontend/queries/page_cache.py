"""Short-lived cache of merged pages, for follow-up requests for their graph and further rows.

The page's request merges the profiles; the request for the graph, a moment later, reuses the
result. In another process, or after KEPT_SECONDS, the profiles are merged again.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from profiles.query import FocusResult, TopResult, TreeResult

T = TypeVar("T")
KEPT_SECONDS = 60.0
MOST_NODES = 2_000_000  # about 100 MB
LIST_ROW = 4  # memory of a list row, in nodes


@dataclass(frozen=True, slots=True)
class CachedPage:
    drawn: TreeResult | FocusResult
    top: TopResult

    @property
    def nodes(self) -> int:
        of = self.drawn
        trees = (of.callers, of.callees) if isinstance(of, FocusResult) else (of.tree,)
        return sum(len(tree.parent) for tree in trees) + LIST_ROW * len(self.top.rows)


class PageCache(Generic[T]):
    """Thread-safe cache of the latest results by project and URL, bounded by node count and age."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[int, str], tuple[float, T, int]] = OrderedDict()
        self._nodes = 0

    def keep(self, project: int, address: str, results: T, nodes: int) -> None:
        """Store a result; `nodes` is its memory in nodes of a call tree."""
        with self._lock:
            self._drop((project, address))
            self._cache[project, address] = self._clock(), results, nodes
            self._nodes += nodes
            while self._cache and (self._nodes > MOST_NODES or self._is_old()):
                self._drop(next(iter(self._cache)))

    def find(self, project: int, address: str) -> T | None:
        with self._lock:
            since, results, _ = self._cache.get((project, address), (0.0, None, 0))
            return results if results and self._clock() - since <= KEPT_SECONDS else None

    def _is_old(self) -> bool:
        since, _, _ = next(iter(self._cache.values()))
        return self._clock() - since > KEPT_SECONDS

    def _drop(self, key: tuple[int, str]) -> None:
        found = self._cache.pop(key, None)
        if found:
            self._nodes -= found[2]


cached_pages: PageCache[CachedPage] = PageCache()
