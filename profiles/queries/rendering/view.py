"""Application of a view to a merged tree: filters, then focus, shape, and root."""

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
    """Apply the view's filters to a tree, without nodes that have no value in its metric.

    Such nodes occur, for example, for memory that is no longer in use. Raise InvalidQuery for an
    invalid filter pattern.
    """
    with _explained():
        return engine.filtered(with_values(tree), _filters(view))


def shown(tree: Tree, view: View) -> Tree:
    """Return the tree of a view; with a focus, the tree of the stacks that reach the function.

    Raise InvalidQuery for an invalid filter pattern, if the stacks are too long to be inverted,
    or if the view has no node with the id of its root.
    """
    tree = filtered(tree, view)
    if view.focus is not None:
        tree = reaching(tree, view.focus)
    if view.shape is Shape.BOTTOM_UP:
        with _explained():
            tree = bottom_up(tree)
    return _rooted(view, tree)[0]


def is_plain(view: View) -> bool:
    """Return True if a view's nodes and values, before its root, equal the merge by function."""
    changes = any(each.option is not FilterOption.HIGHLIGHT for each in view.filters)
    turned = view.shape is not Shape.TOP_DOWN or view.group is not Group.FUNCTION
    return not changes and not turned and view.focus is None


def around(tree: Tree, name: str, view: View) -> Focused:
    """Return a function's callers and callees in a tree returned by `filtered`.

    The view's root may be a node of either tree or of both; a tree without it becomes empty.
    Raise InvalidQuery if neither has it, or if the stacks are too long to be inverted.
    """
    with _explained():
        both = focused(tree, name)
    return Focused(*_rooted(view, both.callers, both.callees))


def highlighted(tree: Tree, view: View) -> tuple[int, ...]:
    """Return the indexes of nodes that match the view's highlight filters, ascending.

    Raise InvalidQuery for an invalid filter pattern.
    """
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
