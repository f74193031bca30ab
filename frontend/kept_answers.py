"""Answers that the same page asks for again within moments: its tree, and more of its list.

The page's request merges the profiles; the graph's, a moment later, takes what it found. In
another process, or too late, they are merged again: nothing depends on what is kept.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from profiles.query import FocusResult, TopResult, TreeResult

KEPT_SECONDS = 60.0
MOST_NODES = 2_000_000  # about 100 MB
_LIST_ROW = 4  # a row of the list weighs about as much as so many nodes


@dataclass(frozen=True, slots=True)
class Answers:
    drawn: TreeResult | FocusResult
    top: TopResult

    @property
    def nodes(self) -> int:
        of = self.drawn
        trees = (of.callers, of.callees) if isinstance(of, FocusResult) else (of.tree,)
        return sum(len(tree.parent) for tree in trees) + _LIST_ROW * len(self.top.rows)


class KeptAnswers:
    """The latest answers, by project and address; safe between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str], tuple[float, Answers]] = OrderedDict()
        self._nodes = 0

    def keep(self, project: int, address: str, answers: Answers) -> None:
        with self._lock:
            self._drop((project, address))
            self._kept[project, address] = self._clock(), answers
            self._nodes += answers.nodes
            while self._kept and (self._nodes > MOST_NODES or self._is_old()):
                self._drop(next(iter(self._kept)))

    def find(self, project: int, address: str) -> Answers | None:
        with self._lock:
            since, answers = self._kept.get((project, address), (0.0, None))
            return answers if answers and self._clock() - since <= KEPT_SECONDS else None

    def _is_old(self) -> bool:
        since, _ = next(iter(self._kept.values()))
        return self._clock() - since > KEPT_SECONDS

    def _drop(self, key: tuple[int, str]) -> None:
        found = self._kept.pop(key, None)
        if found:
            self._nodes -= found[1].nodes


kept_answers = KeptAnswers()
