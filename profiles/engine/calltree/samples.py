"""Selection of samples by their labels."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.reshape import prune
from profiles.engine.calltree.tree import Label, Tree
from profiles.engine.cancellation import Check, never_cancel

# (name, allowed values) of each label that a sample must have; "" allows samples without it. Units
# are ignored.
SampleLabels = tuple[tuple[str, tuple[str, ...]], ...]


def select_samples(tree: Tree, labels: SampleLabels, check: Check = never_cancel) -> Tree:
    """Keep the values of the samples that match all `labels`, and the nodes that lead to them."""
    matching = np.zeros(0, bool)
    if tree.labelled is not None:
        matching = matching_sets(tree.labelled.label_sets, labels)[tree.labelled.label_set]
    return select_rows(tree, matching, matches_unlabelled(labels), check)


def select_rows(
    tree: Tree, selected: NDArray[np.bool_], keeps_unlabelled: bool, check: Check = never_cancel
) -> Tree:
    """Keep the marked rows of the tree's `labelled`, and the nodes that lead to their values.

    With `keeps_unlabelled`, also keep the values of the samples that have no row. `selected` is
    empty for a tree without labels.
    """
    labelled = tree.labelled
    own = tree.self.copy() if keeps_unlabelled else np.zeros_like(tree.self)
    if labelled is not None:
        rows = np.flatnonzero(selected)
        if keeps_unlabelled:
            own -= sum_labelled(tree, np.flatnonzero(~selected))
        else:
            own += sum_labelled(tree, rows)
        labelled = replace(
            labelled,
            node=labelled.node[rows],
            label_set=labelled.label_set[rows],
            values=labelled.values[:, rows],
        )
    return prune(replace(tree, self=own, labelled=labelled), check)


def sum_labelled(tree: Tree, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of these rows of the labelled values: [metrics, nodes]."""
    sums = np.zeros_like(tree.self)
    if tree.labelled is not None:
        for metric_sums, values in zip(sums, tree.labelled.values, strict=True):
            np.add.at(metric_sums, tree.labelled.node[rows], values[rows])
    return sums


def matching_sets(label_sets: Sequence[Sequence[Label]], labels: SampleLabels) -> NDArray[np.bool_]:
    """Return a mask over the label sets that marks those that match all `labels`."""
    return np.array([_has_all(each, labels) for each in label_sets], bool)


def matches_unlabelled(labels: SampleLabels) -> bool:
    """Return True if samples without any label match all `labels`."""
    return _has_all((), labels)


def find_value(label_set: Collection[Label], name: str) -> str | None:
    """Return the value of the set's first label of this name; None if it has none."""
    return next((label.value for label in label_set if label.key == name), None)


def _has_all(label_set: Collection[Label], labels: SampleLabels) -> bool:
    return all((find_value(label_set, name) or "") in allowed for name, allowed in labels)
