"""Cost of the frames that match a pattern, each stack counted once, with evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.patterns import matching_frames, set_matcher
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.reshape import count_on_path
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.cancellation import Check, check_each, never_cancel

MOST_NAMES = 5  # of functions and of callers
MOST_FRAMES = 40  # of a stack


@dataclass(frozen=True, slots=True)
class FramePattern:
    """Frames whose function matches `functions`, below a frame that matches `below`.

    Both are filter values: a part of a name, or `/an expression/`. An empty `below` allows any
    stack, an empty `functions` any function. With `or_files`, frames whose file matches `functions`
    count, too, as in a view's filter. Stacks with a function that matches `without` do not count.
    Self values count only with `own`, otherwise totals.
    """

    functions: str
    below: str = ""
    or_files: bool = False
    without: str = ""
    own: bool = False


@dataclass(frozen=True, slots=True)
class PatternCost:
    """Totals of the topmost matching frame of each stack, in one metric; or self values."""

    total: int
    functions: tuple[tuple[str, int], ...]  # the matching ones of the greatest totals
    callers: tuple[tuple[str, int], ...]  # that call these; without roots
    stack: tuple[str, ...]  # to the matching frame of the greatest total, the root first


_NOTHING = PatternCost(0, (), (), ())


def pattern_costs(
    tree: Tree, patterns: Sequence[FramePattern], check: Check = never_cancel
) -> list[PatternCost]:
    """Return the cost of each pattern in the first metric of the tree."""
    total = totals(tree.parent, tree.self[0], check)
    marks = _mark_functions(tree.frames, patterns, check)
    return [_find_cost(tree, total, pattern, marks, check) for pattern in patterns]


def _find_cost(
    tree: Tree,
    total: NDArray[np.int64],
    pattern: FramePattern,
    marks: Mapping[str, NDArray[np.bool_]],
    check: Check,
) -> PatternCost:
    if not pattern.functions:
        frames = np.ones(len(tree.frames.id), bool)
    elif pattern.or_files:
        frames = matching_frames(tree.frames, [pattern.functions], check)
    else:
        frames = marks[pattern.functions]
    is_match = frames[tree.frame]
    if pattern.without and is_match.any():
        is_match &= count_on_path(tree, marks[pattern.without][tree.frame], check) == 0
    if pattern.below and is_match.any():
        is_outer = marks[pattern.below][tree.frame]
        is_match &= count_on_path(tree, is_outer, check) > is_outer
    if not is_match.any():
        return _NOTHING
    if pattern.own:
        nodes, total = np.flatnonzero(is_match), tree.self[0]
    else:
        nodes = np.flatnonzero(is_match & (count_on_path(tree, is_match, check) == 1))
    nodes = nodes[total[nodes] > 0]
    if not len(nodes):
        return _NOTHING
    functions: Counter[str] = Counter()
    callers: Counter[str] = Counter()
    for node in nodes.tolist():
        functions[_get_name(tree, node)] += int(total[node])
        if (parent := int(tree.parent[node])) >= 0:
            callers[_get_name(tree, parent)] += int(total[node])
    return PatternCost(
        int(total[nodes].sum()),
        tuple(functions.most_common(MOST_NAMES)),
        tuple(callers.most_common(MOST_NAMES)),
        _get_stack(tree, int(nodes[np.argmax(total[nodes])])),
    )


def _mark_functions(
    frames: Frames, patterns: Sequence[FramePattern], check: Check
) -> dict[str, NDArray[np.bool_]]:
    """Mark the frames whose function matches, [F], for each filter value of the patterns."""
    given = [
        ("" if each.or_files else each.functions, each.below, each.without) for each in patterns
    ]
    values = tuple(dict.fromkeys(value for texts in given for value in texts if value))
    if not values:
        return {}
    match = set_matcher(values)
    used = np.unique(frames.name)
    found = np.zeros((len(values), int(used[-1]) + 1 if len(used) else 0), bool)
    texts = check_each(frames.select_strings(used), check)
    for index, text in zip(used.tolist(), texts, strict=True):
        for number in match(text):
            found[number, index] = True
    return {value: found[number][frames.name] for number, value in enumerate(values)}


def _get_name(tree: Tree, node: int) -> str:
    return tree.frames.strings[int(tree.frames.name[tree.frame[node]])]


def _get_stack(tree: Tree, node: int) -> tuple[str, ...]:
    stack: list[str] = []
    while node >= 0 and len(stack) < MOST_FRAMES:
        stack.append(_get_name(tree, node))
        node = int(tree.parent[node])
    return tuple(reversed(stack))
