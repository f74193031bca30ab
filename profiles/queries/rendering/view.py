"""What of a merged tree a view shows: filters, then focus, shape, and what is below its root."""

from collections.abc import Iterator
from contextlib import contextmanager

from profiles.engine.calltree import filters as engine
from profiles.engine.calltree.bottom_up import bottom_up
from profiles.engine.calltree.filters import Filters
from profiles.engine.calltree.focus import Focused, focused, reaching
from profiles.engine.calltree.invert import TooManyFrames
from profiles.engine.calltree.patterns import BadFilterPattern
from profiles.engine.calltree.reshape import with_values
from profiles.engine.calltree.subtree import below, node_of
from profiles.engine.calltree.tree import Tree
from profiles.queries.selection import FilterOption, Group, InvalidQuery, Shape, View


def filtered(tree: Tree, view: View) -> Tree:
    """What has no value in the tree's metric is not shown: memory that is in use no more.

    Unanswerable if a filter's value cannot be used.
    """
    with _explained():
        return engine.filtered(with_values(tree), _filters(view))


def shown(tree: Tree, view: View) -> Tree:
    """The one tree of a view; with a focus, that of the stacks that reach the function.

    Unanswerable if a filter's value cannot be used, the stacks are too long to be turned round,
    or the root is not among what is shown.
    """
    tree = filtered(tree, view)
    if view.focus is not None:
        tree = reaching(tree, view.focus)
    if view.shape is Shape.BOTTOM_UP:
        with _explained():
            tree = bottom_up(tree)
    return _rooted(view, tree)[0]


def is_plain(view: View) -> bool:
    """Whether the nodes that it shows, and their values, are those of the merge by function."""
    changes = any(each.option is not FilterOption.HIGHLIGHT for each in view.filters)
    turned = view.shape is not Shape.TOP_DOWN or view.group is not Group.FUNCTION
    return not changes and not turned and view.focus is None


def around(tree: Tree, name: str, view: View) -> Focused:
    """A function's callers and callees in a tree that `filtered` gave; Unanswerable as above.

    The view's root may stand in either: the other is empty then, but for a root in both.
    """
    with _explained():
        both = focused(tree, name)
    return Focused(*_rooted(view, both.callers, both.callees))


def highlighted(tree: Tree, view: View) -> tuple[int, ...]:
    """Indexes of the nodes that the view's highlight filters match, in order."""
    values = _values(view, FilterOption.HIGHLIGHT)
    if not values:
        return ()
    with _explained():
        return tuple(engine.highlighted(tree, values).tolist())


def _filters(view: View) -> Filters:
    return Filters(
        show=_values(view, FilterOption.SHOW),
        hide=_values(view, FilterOption.HIDE),
        hide_frames=_values(view, FilterOption.HIDE_FRAMES),
        show_from=_values(view, FilterOption.FROM),
    )


def _values(view: View, option: FilterOption) -> tuple[str, ...]:
    return tuple(each.value for each in view.filters if each.option is option)


def _rooted(view: View, *trees: Tree) -> tuple[Tree, ...]:
    if view.root is None:
        return trees
    nodes = [node_of(tree, view.root) for tree in trees]
    if all(node is None for node in nodes):
        raise InvalidQuery(f"The selected profiles have no node {view.root:016x} in this view.")
    return tuple(below(tree, node) for tree, node in zip(trees, nodes, strict=True))


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (BadFilterPattern, TooManyFrames) as error:
        raise InvalidQuery(str(error)) from error
