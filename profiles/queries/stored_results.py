"""Stored trees of snapshots, in place of the merge of profiles."""

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from profiles.engine.calltree.merge import Merge
from profiles.engine.calltree.split import SplitMerge
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, Missing, Reason
from profiles.engine.encoding.codec import numbers_of
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.engine.metrics import Metric
from profiles.models import ResultSnapshot
from profiles.queries.cache import cache_sum, cached_sum
from profiles.queries.context import DeadlinePassed, QueryContext
from profiles.queries.selection import Group, Grouping, GroupKind, InvalidQuery, Selection
from profiles.storage import blob_store, result_snapshots
from profiles.storage.blobs import BlobDeadlinePassed, BlobError


class SnapshotNotFound(InvalidQuery):
    """Snapshot that the project does not have, or no longer."""


class SnapshotUnreadable(InvalidQuery):
    """Snapshot whose tree cannot be read; the text gives the reason."""


def snapshot_row(context: QueryContext, snapshot_id: str) -> ResultSnapshot:
    """Return a snapshot of the context's project. Raise SnapshotNotFound."""
    row = context.snapshot.once(
        ("result snapshot", snapshot_id),
        lambda: result_snapshots.find(context.project, snapshot_id),
    )
    if row is None:
        raise SnapshotNotFound(_("There is no such snapshot in this project, or it was deleted."))
    return row


def stored_metrics(context: QueryContext, selection: Selection) -> tuple[Metric, ...]:
    """Return the metrics of the selection's snapshot, the default one first."""
    row = snapshot_row(context, selection.snapshot)
    return tuple(Metric(name, unit) for name, unit in row.metrics)


def stored_sample_labels(context: QueryContext, selection: Selection) -> set[tuple[str, str]]:
    """Return the sample labels (name, value) of the selection's snapshot.

    A snapshot that cannot be read has none here: its tree reports the reason.
    """
    try:
        sets = numbers_of(_read(context, snapshot_row(context, selection.snapshot))).head["labels"]
    except (BadTree, BlobError):
        return set()
    return {(str(label[0]), str(label[1])) for labels in sets for label in labels}


def stored_sum(
    context: QueryContext,
    selection: Selection,
    metrics: Sequence[Metric],
    group: Group,
    split: Grouping | None = None,
) -> tuple[Tree, Coverage]:
    """Return the tree of the selection's snapshot in these metrics; the total is of the first.

    With `split`, a label of samples, the tree keeps its values apart. The result is cached and
    shared: do not modify the tree. Raise SnapshotUnreadable, and InvalidQuery for another label.
    """
    if split is not None and split.kind is not GroupKind.SAMPLE:
        raise InvalidQuery(_("A snapshot can be split only by a label of its samples."))
    row = snapshot_row(context, selection.snapshot)
    plan, of = ("result snapshot", row.snapshot_id), (tuple(metrics), group, split)
    tree: Tree | None = cached_sum(plan, of)
    if tree is None:
        try:
            by_function = group is Group.FUNCTION
            most = settings.MAX_QUERY_NODES
            if split is None:
                merge = Merge(metrics, by_function, most, row.type, context.check)
            else:
                merge = SplitMerge(
                    metrics,
                    by_function,
                    split.label,
                    max_nodes=most,
                    profile_type=row.type,
                    check=context.check,
                )
            merge.add_encoded(_read(context, row))
            tree = merge.tree()
        except (BadTree, BadProfile, TooLarge, BlobError) as error:
            sentence = _("The snapshot cannot be read: %(why)s")
            raise SnapshotUnreadable(sentence % {"why": error}) from error
        cache_sum(plan, of, tree, 2 * len(tree.id), is_readable=True)
    return tree, _coverage(row, sum(tree.self[0].tolist()))


def _read(context: QueryContext, row: ResultSnapshot) -> bytes:
    location = result_snapshots.location_of(row)
    source = next(iter(blob_store.sources([location], context.deadline)))
    try:
        return bytes(source(0, location.length))
    except BlobDeadlinePassed as error:
        raise DeadlinePassed from error


def _coverage(row: ResultSnapshot, total: int) -> Coverage:
    missing = Missing(
        start=row.start,
        end=row.end,
        why=_("They could not be read when the snapshot was taken."),
        profiles=row.left_out,
        reason=Reason.UNREADABLE,
    )
    return Coverage(
        profiles=row.profiles,
        total=total,
        duration_ns=row.duration_ns,
        first=row.start,
        last=row.end,
        missing=(missing,) if row.left_out else (),
    )
