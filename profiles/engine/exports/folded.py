"""Export as folded stacks: one line `root;…;leaf value` per stack, for flame graph scripts."""

from collections import Counter

from profiles.engine.calltree.stacks import list_stacks
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel


def encode(tree: Tree, metric: int = 0, check: Check = never_cancel) -> str:
    """Encode the stacks with a value in one metric, as function names, sorted.

    Semicolons in names become colons, and line breaks become spaces: the format has no quoting.
    """
    frames, strings = tree.frames, tree.frames.strings
    names = [_clean(strings[name]) for name in frames.name.tolist()]
    sums: Counter[str] = Counter()
    for stack, value in list_stacks(tree, metric, check):
        sums[";".join(names[frame] for frame in stack)] += value
    return "".join(f"{stack} {value}\n" for stack, value in sorted(sums.items()))


def _clean(name: str) -> str:
    return " ".join(name.replace(";", ":").splitlines())
