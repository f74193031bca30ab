"""Saved tree as the only input of a query, in place of stored profiles."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from profiles.engine.blocks.sparse_values import exact_sum
from profiles.engine.coverage import ScanStats
from profiles.engine.encoding.codec import open_stored, read_numbers
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.engine.metrics import Metric, canonical
from profiles.models import ResultSnapshot
from profiles.queries.context import DeadlinePassed, QueryContext
from profiles.queries.plan import begin_selection
from profiles.queries.scan_input import Accumulator
from profiles.queries.selection import InvalidQuery, SavedTree
from profiles.storage import blob_store, saved_tree_rows
from profiles.storage.blobs import BlobDeadlinePassed, BlobError


class SavedTreeNotFound(InvalidQuery):
    """Saved tree that the project does not have, or no longer."""


class SavedTreeUnreadable(InvalidQuery):
    """Saved tree that cannot be read; the text gives the reason."""


def get_saved_tree_row(context: QueryContext, id: str) -> ResultSnapshot:
    """Return the row of a saved tree of the context's project. Raise SavedTreeNotFound."""
    row = context.snapshot.once(
        ("saved tree", id), lambda: saved_tree_rows.find(context.project, id)
    )
    if row is None:
        raise SavedTreeNotFound(_("There is no such snapshot in this project, or it was deleted."))
    return row


def list_saved_metrics(context: QueryContext, saved: SavedTree) -> tuple[Metric, ...]:
    """Return the metrics of a saved tree, the default one first."""
    return tuple(Metric(name, unit) for name, unit in get_saved_tree_row(context, saved.id).metrics)


def read_saved_labels(context: QueryContext, saved: SavedTree) -> set[tuple[str, str]]:
    """Return the sample labels (name, value) of a saved tree.

    A tree that cannot be read has none here: a query of its values reports the reason.
    """
    try:
        sets = read_numbers(_read(context, get_saved_tree_row(context, saved.id))).head["labels"]
    except (BadTree, BlobError):
        return set()
    return {(str(label[0]), str(label[1])) for labels in sets for label in labels}


@dataclass(frozen=True, slots=True)
class SavedTreeInput:
    """Profiles whose sum is a saved tree; implements ScanInput."""

    context: QueryContext
    row: ResultSnapshot
    metric: Metric

    def read_into(self, accumulator: Accumulator, stats: ScanStats) -> None:
        """Add the tree. Raise SavedTreeUnreadable: without it nothing is left to show."""
        row = self.row
        try:
            data = _read(self.context, row)
            stored = open_stored(data, labels=False)
            accumulator.add_encoded(data)
        except (BadTree, BadProfile, TooLarge, BlobError) as error:
            sentence = _("The snapshot cannot be read: %(why)s")
            raise SavedTreeUnreadable(sentence % {"why": error}) from error
        metrics = canonical(row.type, stored.metrics)
        own = self.metric in metrics
        total = exact_sum(stored.values[metrics.index(self.metric)]) if own else 0
        stats.take(row.profiles, total, row.duration_ns, row.start, row.end)
        if row.left_out:
            reason = _("They could not be read when the snapshot was taken.")
            stats.leave_out(row.start, row.end, reason, row.left_out)


@dataclass(frozen=True, slots=True)
class SavedTreePlan:
    """Plan of a query that reads a saved tree."""

    selection: SavedTree
    row: ResultSnapshot

    @property
    def result_key(self) -> tuple[str, str]:
        """Return the key of sums over the tree, which never changes."""
        return "saved tree", self.row.snapshot_id


def plan_saved_tree(context: QueryContext, saved: SavedTree) -> SavedTreePlan:
    """Find a saved tree. Raise SavedTreeNotFound."""
    begin_selection(context, saved)
    return SavedTreePlan(saved, get_saved_tree_row(context, saved.id))


def _read(context: QueryContext, row: ResultSnapshot) -> bytes:
    location = saved_tree_rows.get_location(row)
    source = next(iter(blob_store.sources([location], context.deadline)))
    try:
        return bytes(source(0, location.length))
    except BlobDeadlinePassed as error:
        raise DeadlinePassed from error
