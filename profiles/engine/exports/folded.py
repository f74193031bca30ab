"""Folded: one line for each stack, `root;…;leaf value`, as flame graph scripts read it."""

from collections import Counter

from profiles.engine.calltree.stacks import stacks_of
from profiles.engine.calltree.tree import Tree


def encode(tree: Tree, metric: int = 0) -> str:
    """The stacks that have a value in one metric, by function names alone, in order of name.

    Semicolons in names become colons, and line ends become spaces: the format has no quotes.
    """
    frames, strings = tree.frames, tree.frames.strings
    names = [_clean(strings[name]) for name in frames.name.tolist()]
    sums: Counter[str] = Counter()
    for stack, value in stacks_of(tree, metric):
        sums[";".join(names[frame] for frame in stack)] += value
    return "".join(f"{stack} {value}\n" for stack, value in sorted(sums.items()))


def _clean(name: str) -> str:
    return " ".join(name.replace(";", ":").splitlines())
