"""Merged trees of selections that are all in blocks, remembered: a block never changes.

Roll-up and retention put other blocks in the place of those that were, and late profiles are rows
of the head first: neither finds what is remembered of before.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from profiles.engine.metrics import Metric
from profiles.engine.tree import Tree
from profiles.queries.answers import Coverage
from profiles.queries.asked import Group, Selection
from profiles.queries.parts import Found
from projects.bounded_cache import BoundedCache

TREES = settings.REMEMBERED_ANSWERS
MAX_NODES = 100_000  # of a tree that is kept: with its names, some 5 MB
CLOSED = timedelta(hours=1)  # after its end a range may be out of the head; not before


class Key(NamedTuple):
    selection: Selection
    metric: Metric
    group: Group
    blocks: tuple[int, ...]


_trees: BoundedCache[Key, tuple[Tree, Coverage]] = BoundedCache(size=TREES)


def key(
    selection: Selection, metric: Metric, group: Group, found: Found, now: datetime | None = None
) -> Key | None:
    """What tells the sum; None for one that may change."""
    if not settings.REMEMBERED_ANSWERS or selection.end > (now or timezone.now()) - CLOSED:
        return None
    blocks = found.blocks()
    return None if blocks is None else Key(selection, metric, group, blocks)


def recall(key: Key | None) -> tuple[Tree, Coverage] | None:
    return None if key is None else _trees.peek(key)


def remember(key: Key | None, tree: Tree, coverage: Coverage) -> None:
    """Unless it is large, or something was missing: that may be back."""
    if key is not None and len(tree.id) <= MAX_NODES and not coverage.missing:
        _trees.keep(key, (tree, coverage))
