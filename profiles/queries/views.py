"""Views of merged call trees: filters, focus, split, shape and root."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from profiles.engine.accumulators.split import MAX_VALUES, split
from profiles.engine.calltree import filters
from profiles.engine.calltree.filters import Filters
from profiles.engine.calltree.focus import Focused, focus_tree, reaching
from profiles.engine.calltree.invert import TooManyFrames, bottom_up
from profiles.engine.calltree.patterns import BadFilterPattern
from profiles.engine.calltree.reshape import with_values
from profiles.engine.calltree.subtree import below, find_node
from profiles.engine.calltree.tree import Tree
from profiles.queries.context import QueryContext
from profiles.queries.scan import explain_errors
from profiles.queries.selection import FilterOption, InvalidQuery, Shape, View


def apply_filters(context: QueryContext, tree: Tree, view: View) -> Tree:
    """Apply the view's filters to a tree, without nodes that have no value in its metric.

    Such nodes occur, for example, for memory that is no longer in use. Raise InvalidQuery for an
    invalid filter pattern.
    """
    with explain_view_errors():
        return filters.filter_tree(
            with_values(tree, context.check), build_filters(view), context.check
        )


def build_filters(view: View) -> Filters:
    """Return the view's filters that change its tree: all but highlights."""
    return Filters(
        show=_values(view, FilterOption.SHOW),
        hide=_values(view, FilterOption.HIDE),
        hide_frames=_values(view, FilterOption.HIDE_FRAMES),
        show_from=_values(view, FilterOption.FROM),
    )


def apply_view(context: QueryContext, tree: Tree, view: View) -> Tree:
    """Apply filters, focus, split, shape and root: with a focus, keep the stacks that reach it.

    Filters match functions, never values of the label that splits the tree. Raise InvalidQuery for
    an invalid filter pattern, if the stacks are too long to be inverted, or if the view has no node
    with the id of its root.
    """
    tree = apply_filters(context, tree, view)
    if view.focus is not None:
        tree = reaching(tree, view.focus, context.check)
    if view.split is not None:
        most = settings.MAX_QUERY_NODES
        with explain_errors():
            tree = split(tree, view.split.label, MAX_VALUES, most, context.check)
    if view.shape is Shape.BOTTOM_UP:
        with explain_view_errors():
            tree = bottom_up(tree, context.check)
    return _apply_root(context, view, tree)[0]


def focus_trees(context: QueryContext, tree: Tree, name: str, view: View) -> Focused:
    """Return a function's callers and callees in a tree returned by `apply_filters`.

    The view's root may be a node of either tree or of both; a tree without it becomes empty.
    Raise InvalidQuery if neither has it, or if the stacks are too long to be inverted.
    """
    with explain_view_errors():
        both = focus_tree(tree, name, context.check)
    return Focused(*_apply_root(context, view, both.callers, both.callees))


def find_highlighted(context: QueryContext, tree: Tree, view: View) -> tuple[int, ...]:
    """Return the indexes of nodes that match the view's highlight filters, ascending.

    Raise InvalidQuery for an invalid filter pattern.
    """
    values = _values(view, FilterOption.HIGHLIGHT)
    if not values:
        return ()
    with explain_view_errors():
        return tuple(filters.find_highlighted(tree, values, context.check).tolist())


def _values(view: View, option: FilterOption) -> tuple[str, ...]:
    return tuple(each.value for each in view.filters if each.option is option)


def _apply_root(context: QueryContext, view: View, *trees: Tree) -> tuple[Tree, ...]:
    if view.root is None:
        return trees
    nodes = [find_node(tree, view.root) for tree in trees]
    if all(node is None for node in nodes):
        raise InvalidQuery(
            f"No node {view.root:016x} in this view of the selected profiles. Remove `root`."
        )
    return tuple(below(tree, node, context.check) for tree, node in zip(trees, nodes, strict=True))


@contextmanager
def explain_view_errors() -> Iterator[None]:
    """Turn errors of filters and shapes into InvalidQuery."""
    try:
        yield
    except (BadFilterPattern, TooManyFrames) as error:
        raise InvalidQuery(str(error)) from error
