"""Flame graphs of one or two sides as Pyroscope's levels, merged by function name."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest

from profiles.query import FoldedTree

ROOT, OTHER = "total", "other"
DEFAULT_NODES = 8192
MAX_NODES = 65_536
CHECK_EVERY = 4096  # nodes


def node_limit(requested: int) -> int:
    """Return the number of nodes to send for the `max_nodes` of a request; 0 or less: default."""
    return min(requested, MAX_NODES) if requested > 0 else DEFAULT_NODES


@dataclass(frozen=True, slots=True)
class Levels:
    """Nodes by level from the root; values as in FlameGraph and FlameGraphDiff."""

    names: list[str]
    levels: list[list[int]]
    totals: tuple[int, ...]  # of each side
    max_self: int


class FlameGraphBuilder:
    """Sum of call trees of one or two sides.

    A node's children are the distinct names of functions below it. Parents come before children.
    """

    def __init__(self, sides: int, check: Callable[[], None]) -> None:
        self._check = check
        self._parent = [-1]
        self._name = [ROOT]
        self._self = [[0] for _ in range(sides)]
        self._numbers: dict[tuple[int, str], int] = {}

    def add(self, result: FoldedTree, side: int = 0) -> None:
        """Add a tree; what folding removed below a node becomes its child OTHER."""
        tree, own = result.tree, self._self[side]
        strings = tree.frames.strings
        names = [strings[i] for i in tree.frames.name.tolist()]
        rows = zip(tree.parent.tolist(), tree.frame.tolist(), tree.self[0].tolist(), strict=True)
        numbers: list[int] = []
        for index, (parent, frame, value) in enumerate(rows):
            if not index % CHECK_EVERY:
                self._check()
            above = numbers[parent] if parent >= 0 else 0
            number = self._node(above, names[frame])
            own[number] += value
            numbers.append(number)
        for node, (_, weight) in result.folded.items():
            own[self._node(numbers[node], OTHER)] += weight

    def levels(self, max_nodes: int) -> Levels:
        """Return the `max_nodes` greatest nodes; the smaller ones are summed as OTHER."""
        totals = [self._totals(own) for own in self._self]
        children = self._children(totals, max_nodes)
        names: dict[str, int] = {}
        levels: list[list[int]] = []
        sides = range(len(totals))
        # Nodes of a level with their start on each side.
        level: list[tuple[int, tuple[int, ...]]] = [(0, (0,) * len(totals))]
        while level:
            self._check()
            values: list[int] = []
            ends = [0] * len(totals)
            below: list[tuple[int, tuple[int, ...]]] = []
            for node, starts in level:
                offsets = [starts[side] + self._self[side][node] for side in sides]
                for side in sides:
                    total = totals[side][node]
                    values += (starts[side] - ends[side], total, self._self[side][node])
                    ends[side] = starts[side] + total
                values.append(names.setdefault(self._name[node], len(names)))
                for child in children.get(node, ()):
                    below.append((child, tuple(offsets)))
                    offsets = [offsets[side] + totals[side][child] for side in sides]
            levels.append(values)
            level = below
        max_self = max(max(own) for own in self._self)
        return Levels([*names], levels, tuple(side_totals[0] for side_totals in totals), max_self)

    def _node(self, parent: int, name: str) -> int:
        number = self._numbers.get((parent, name))
        if number is None:
            number = self._numbers[parent, name] = len(self._parent)
            self._parent.append(parent)
            self._name.append(name)
            for own in self._self:
                own.append(0)
        return number

    def _totals(self, own: list[int]) -> list[int]:
        totals = list(own)
        for node in range(len(totals) - 1, 0, -1):
            totals[self._parent[node]] += totals[node]
        return totals

    def _children(self, totals: list[list[int]], max_nodes: int) -> dict[int, list[int]]:
        """Return the nodes to send by parent, sorted by name, with OTHER last."""
        widths = [sum(side_totals) for side_totals in zip(*totals, strict=True)]
        others: dict[int, int] = {}
        count = len(widths)
        least = max(1, nlargest(max_nodes, widths)[-1]) if count > max_nodes else 1
        children: dict[int, list[int]] = {}
        for node in range(1, count):
            parent = self._parent[node]
            if widths[parent] < least:
                continue  # part of an OTHER above
            if widths[node] >= least and self._name[node] != OTHER:
                children.setdefault(parent, []).append(node)
            elif widths[node]:
                other = others.get(parent)
                if other is None:
                    other = others[parent] = self._append(parent, totals)
                for side, side_totals in enumerate(totals):
                    side_totals[other] += side_totals[node]
                    self._self[side][other] += side_totals[node]
        for nodes in children.values():
            nodes.sort(key=self._name.__getitem__)
        for parent, other in others.items():
            children.setdefault(parent, []).append(other)
        return children

    def _append(self, parent: int, totals: list[list[int]]) -> int:
        """Append a node OTHER that is not in the tree: its total is in its parent's already."""
        number = len(self._parent)
        self._parent.append(parent)
        self._name.append(OTHER)
        for own, side_totals in zip(self._self, totals, strict=True):
            own.append(0)
            side_totals.append(0)
        return number
