"""Snapshots of results: take, list and delete them."""

from dataclasses import dataclass
from datetime import datetime

from profiles.engine.encoding import codec
from profiles.engine.metrics import Metric
from profiles.models import ResultSnapshot, SnapshotKind
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import list_metrics
from profiles.queries.plan import choose_metric
from profiles.queries.saved_tree_input import get_saved_tree_row
from profiles.queries.selection import Group, InvalidQuery, ProfileSelection, View
from profiles.queries.tree_merge import MetricsMerge
from profiles.storage import result_snapshots
from profiles.storage.result_snapshots import NewSnapshot
from projects.models import User
from projects.profile_types import ProfileType


class NothingToStore(InvalidQuery):
    """Selection without profiles."""


@dataclass(frozen=True, slots=True)
class SavedTreeInfo:
    """Snapshot of a project, without its tree."""

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


def get_saved_tree(context: QueryContext, snapshot_id: str) -> SavedTreeInfo:
    """Describe a snapshot. Raise SavedTreeNotFound."""
    return _info(get_saved_tree_row(context, snapshot_id))


def save_tree(
    context: QueryContext,
    selection: ProfileSelection,
    view: View,
    *,
    title: str,
    query: str,
    actor: User,
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
    new = NewSnapshot(
        project=context.project,
        kind=SnapshotKind.SELECTION,
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
    return _info(result_snapshots.store(new, actor=actor))


def list_saved_trees(project: int) -> list[SavedTreeInfo]:
    """Return the snapshots of a project (its pk), the latest first."""
    return [_info(row) for row in result_snapshots.list_snapshots(project)]


def delete_saved_tree(project: int, snapshot_id: str, *, actor: User) -> None:
    """Delete a snapshot of a project (its pk); do nothing if it does not exist."""
    row = result_snapshots.find(project, snapshot_id)
    if row is not None:
        result_snapshots.delete(row, actor=actor)


def _info(row: ResultSnapshot) -> SavedTreeInfo:
    return SavedTreeInfo(
        id=row.snapshot_id,
        title=row.title,
        is_file=row.kind == SnapshotKind.FILE,
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
