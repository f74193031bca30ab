"""Selection of samples by their labels."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.reshape import pruned
from profiles.engine.calltree.tree import Label, Tree
from profiles.engine.cancellation import Check, unchecked

# (name, allowed values) of each label that a sample must have; "" allows samples without it. Units
# are ignored.
SampleLabels = tuple[tuple[str, tuple[str, ...]], ...]


def only_samples(tree: Tree, labels: SampleLabels, check: Check = unchecked) -> Tree:
    """Keep the values of the samples that match all `labels`, and the nodes that lead to them."""
    labelled = tree.labelled
    own = tree.self.copy() if matches_unlabelled(labels) else np.zeros_like(tree.self)
    if labelled is not None:
        if matches_unlabelled(labels):
            for sums, values in zip(own, labelled.values, strict=True):
                np.subtract.at(sums, labelled.node, values)
        rows = np.flatnonzero(matching_sets(labelled.label_sets, labels)[labelled.label_set])
        labelled = replace(
            labelled,
            node=labelled.node[rows],
            label_set=labelled.label_set[rows],
            values=labelled.values[:, rows],
        )
        for sums, values in zip(own, labelled.values, strict=True):
            np.add.at(sums, labelled.node, values)
    return pruned(replace(tree, self=own, labelled=labelled), check)


def matching_sets(label_sets: Sequence[Sequence[Label]], labels: SampleLabels) -> NDArray[np.bool_]:
    """Return a mask over the label sets that marks those that match all `labels`."""
    return np.array([_has_all(each, labels) for each in label_sets], bool)


def matches_unlabelled(labels: SampleLabels) -> bool:
    """Return True if samples without any label match all `labels`."""
    return _has_all((), labels)


def value_in(label_set: Collection[Label], name: str) -> str | None:
    """Return the value of the set's first label of this name; None if it has none."""
    return next((label.value for label in label_set if label.key == name), None)


def _has_all(label_set: Collection[Label], labels: SampleLabels) -> bool:
    return all((value_in(label_set, name) or "") in allowed for name, allowed in labels)
