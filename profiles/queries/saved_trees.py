"""Saved trees: save, list and delete them. Pages call them snapshots."""

from dataclasses import dataclass
from datetime import datetime

from profiles.engine.encoding import codec
from profiles.engine.metrics import Metric
from profiles.models import ResultSnapshot, SavedTreeKind
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import list_metrics
from profiles.queries.plan import choose_metric
from profiles.queries.saved_tree_input import get_saved_tree_row
from profiles.queries.selection import Group, InvalidQuery, ProfileSelection, View
from profiles.queries.tree_merge import MetricsMerge
from profiles.storage import saved_tree_rows
from profiles.storage.saved_tree_rows import NewSavedTree
from projects.audit import NO_CLIENT, Origin
from projects.models import User
from projects.profile_types import ProfileType


class NothingToStore(InvalidQuery):
    """Selection without profiles."""


@dataclass(frozen=True, slots=True)
class SavedTreeInfo:
    """Saved tree without the tree itself."""

    id: str
    title: str
    is_file: bool
    service: str  # "" for a file
    type: ProfileType
    start: datetime
    end: datetime
    query: str  # of the flame page, with an absolute range
    metrics: tuple[Metric, ...]
    profiles: int
    warnings: tuple[str, ...]
    size: int  # bytes
    created: datetime
    created_by: User | None


def get_saved_tree(context: QueryContext, id: str) -> SavedTreeInfo:
    """Describe a saved tree. Raise SavedTreeNotFound."""
    return _info(get_saved_tree_row(context, id))


def save_tree(
    context: QueryContext,
    selection: ProfileSelection,
    view: View,
    *,
    title: str,
    query: str,
    actor: User,
    origin: Origin = NO_CLIENT,
) -> SavedTreeInfo:
    """Store the merged tree of a selection, with lines and all metrics that its profiles share.

    `query` is what the flame page shows of it. The view's metric comes first; its filters and
    shape are not applied. Raise NothingToStore without profiles, and what storing raises.
    """
    with context.snapshot:
        metrics = list_metrics(context, selection)
        metric = choose_metric(selection, view, metrics)
        ordered = tuple(dict.fromkeys([metric, *metrics]))
        whole = View(metric=metric)
        tree, coverage = MetricsMerge(selection, whole, Group.LINE, ordered).sum(context, metric)
    if not coverage.profiles:
        raise NothingToStore("No profiles to store.")
    context.check()
    new = NewSavedTree(
        project=context.project,
        kind=SavedTreeKind.SELECTION,
        title=title,
        service=selection.service,
        type=selection.type,
        start=selection.start,
        end=selection.end,
        query=query,
        metrics=tree.metrics,
        profiles=coverage.profiles,
        duration_ns=coverage.duration_ns,
        tree=codec.encode(tree),
        left_out=coverage.left_out,
    )
    return _info(saved_tree_rows.store(new, actor=actor, origin=origin))


def list_saved_trees(project: int) -> list[SavedTreeInfo]:
    """Return the saved trees of a project (its pk), the latest first."""
    return [_info(row) for row in saved_tree_rows.list_rows(project)]


def delete_saved_tree(project: int, id: str, *, actor: User, origin: Origin = NO_CLIENT) -> None:
    """Delete a saved tree of a project (its pk); do nothing if it does not exist."""
    row = saved_tree_rows.find(project, id)
    if row is not None:
        saved_tree_rows.delete(row, actor=actor, origin=origin)


def _info(row: ResultSnapshot) -> SavedTreeInfo:
    return SavedTreeInfo(
        id=row.snapshot_id,
        title=row.title,
        is_file=row.kind == SavedTreeKind.FILE,
        service=row.service,
        type=ProfileType(row.type),
        start=row.start,
        end=row.end,
        query=row.query,
        metrics=tuple(Metric(name, unit) for name, unit in row.metrics),
        profiles=row.profiles,
        warnings=tuple(row.warnings),
        size=row.blob.size,
        created=row.created,
        created_by=row.created_by,
    )
