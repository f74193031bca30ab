"""Lists, callers, callees and differences equal `go tool pprof`, to the last unit."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from profiles.engine.calltree.align import align
from profiles.engine.calltree.filters import filter_tree
from profiles.engine.calltree.focus import focus_tree
from profiles.engine.calltree.peek import peek
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.top import top
from profiles.engine.calltree.tree import Tree
from profiles.engine.stats.comparison import pairs
from tests.golden.make import tree_of
from tests.golden.queries import HERE, MANY_GO, MANY_PYTHON, QUERIES, GoldenQuery, Sample
from tests.profiles.engine.grouped_trees import by_function

_ROW = re.compile(r" *(-?\d+)\D* +\S+% +\S+% +(-?\d+)\D* +\S+%  (.+?)( \((partial-)?inline\))?")
_PEEKED = re.compile(r" *(\d+)\D* +\S+% +\S+% (\d+)\D* +\S+% +\| (\S.*?)( \((partial-)?inline\))?")
_BESIDE = re.compile(r" +(\d+)\D* +\S+% \|   (\S.*?)( \((partial-)?inline\))?")
Costs = dict[str, tuple[int, int]]  # (self, total)

LISTS = [query for query in QUERIES if not query.peek]
PEEKS = [query for query in QUERIES if query.peek]
COMPARISONS = [query for query in QUERIES if query.base]


@pytest.mark.parametrize("query", LISTS, ids=lambda query: query.path.stem)
def test_function_lists_equal_those_of_pprof(query: GoldenQuery) -> None:
    said = pprofs(query)
    assert said
    assert ours(query) == said


@pytest.mark.parametrize("query", COMPARISONS, ids=lambda query: query.path.stem)
def test_a_comparison_subtracts_as_pprof_does(query: GoldenQuery) -> None:
    assert compared(query) == pprofs(query)


@pytest.mark.parametrize("query", PEEKS, ids=lambda query: query.path.stem)
def test_callers_and_callees_agree_with_pprof(query: GoldenQuery) -> None:
    peeked = list(pprofs_peek(query))
    assert peeked
    for said in peeked:
        assert around(query, said.name) == said


@pytest.mark.parametrize("query", PEEKS, ids=lambda query: query.path.stem)
def test_focus_without_recursion_equals_peek_of_pprof(query: GoldenQuery) -> None:
    tree, metric = _peeked_tree(query)
    recursive = 0
    for said in pprofs_peek(query):
        both = focus_tree(tree, said.name)
        if _calls_itself(both.callees, said.name):
            recursive += 1
        else:
            assert _beside_root(both.callers, metric) == said.callers
            assert _beside_root(both.callees, metric) == said.callees
    assert (recursive > 0) == ("recursion" in query.title)


def test_every_golden_file_has_a_query() -> None:
    assert set(HERE.glob("*.txt")) == {query.path for query in QUERIES}
    assert len(MANY_GO.paths) == len(MANY_PYTHON.paths) == 20


def pprofs(query: GoldenQuery) -> Costs:
    rows = query.path.read_text().splitlines()[1:]
    found = [_ROW.fullmatch(row) for row in rows]
    assert all(found)
    return _costs([(row[3], int(row[1]), int(row[2])) for row in found if row])


def ours(query: GoldenQuery) -> Costs:
    own, total = Counter[str](), Counter[str]()
    for sample, sign in ((query.sample, 1), (query.base, -1)):
        if sample:
            tree = shown(sample, query)
            for row in top(tree, metric_of(tree, query)):
                own[row.name] += sign * row.self
                total[row.name] += sign * row.total
    return _costs([(name, own[name], total[name]) for name in total])


def compared(query: GoldenQuery) -> Costs:
    """Return the functions of the comparison, with the second side subtracted from the first."""
    assert query.base
    sides = [_one_metric(shown(side, query), query) for side in (query.sample, query.base)]
    found = pairs(align(sides[0], sides[1])[0])
    own, total = (np.subtract(*sums).tolist() for sums in (found.self, found.total))
    return _costs(list(zip(found.names, own, total, strict=True)))


def _one_metric(tree: Tree, query: GoldenQuery) -> Tree:
    at = metric_of(tree, query)
    return replace(tree, metrics=tree.metrics[at : at + 1], self=tree.self[at : at + 1])


class Peeked(NamedTuple):
    """Function with its callers and callees, as pprof prints them."""

    name: str
    self: int
    total: int
    callers: dict[str, int]
    callees: dict[str, int]


def pprofs_peek(query: GoldenQuery) -> Iterator[Peeked]:
    """Parse sections between dashed lines; the callers are printed above the function."""
    text = query.path.read_text().partition("\n")[2]
    for part in re.split(r"-+\+-+\n", text):
        lines = part.splitlines()
        if not lines:
            continue
        middle = next(i for i, line in enumerate(lines) if _PEEKED.fullmatch(line))
        row = _PEEKED.fullmatch(lines[middle])
        assert row
        beside = [dict(_beside(line) for line in p) for p in (lines[:middle], lines[middle + 1 :])]
        yield Peeked(row[3], int(row[1]), int(row[2]), *beside)


def _beside(line: str) -> tuple[str, int]:
    row = _BESIDE.fullmatch(line)
    assert row, line
    return row[2], int(row[1])


def around(query: GoldenQuery, name: str) -> Peeked:
    tree, metric = _peeked_tree(query)
    row = next(row for row in top(tree, metric) if row.name == name)
    found = peek(tree, name, metric)
    callers, callees = (
        {each.name: each.total for each in side} for side in (found.callers, found.callees)
    )
    return Peeked(name, row.self, row.total, callers, callees)


@cache
def _peeked_tree(query: GoldenQuery) -> tuple[Tree, int]:
    tree = shown(query.sample, query)
    return tree, metric_of(tree, query)


def _beside_root(tree: Tree, metric: int) -> dict[str, int]:
    """Return the totals of the nodes below the roots, by name."""
    total = totals(tree.parent, tree.self[metric])
    sums: Counter[str] = Counter()
    for node, parent in enumerate(tree.parent.tolist()):
        if parent >= 0 and tree.parent[parent] < 0 and total[node]:
            sums[_names(tree)[node]] += int(total[node])
    return dict(sums)


def _calls_itself(callees: Tree, name: str) -> bool:
    return any(
        named == name for named, p in zip(_names(callees), callees.parent, strict=True) if p >= 0
    )


def _names(tree: Tree) -> list[str]:
    return [tree.frames.strings[i] for i in tree.frames.name[tree.frame].tolist()]


def shown(sample: Sample, query: GoldenQuery) -> Tree:
    return by_function(_without_files(filter_tree(merged(sample), query.filters())))


@cache
def merged(sample: Sample) -> Tree:
    return tree_of(sample)


def metric_of(tree: Tree, query: GoldenQuery) -> int:
    return [metric.name for metric in tree.metrics].index(query.metric)


def _costs(rows: list[tuple[str, int, int]]) -> Costs:
    return {name: (own, total) for name, own, total in rows if own or total}


def _without_files(tree: Tree) -> Tree:
    """Remove files, because pprof lists functions by name alone."""
    strings = (*tree.frames.strings, "")
    none = np.full(len(tree.frames.id), len(strings) - 1, np.int32)
    return replace(tree, frames=replace(tree.frames, strings=strings, file=none))
