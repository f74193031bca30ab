"""Choices in the menus of the picker, and the labels of samples."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import orjson
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from profiles.engine.blocks import ProfileColumns
from profiles.engine.encoding.codec import read_numbers
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.heaviest import top_count
from profiles.queries.plan import QueryPlan, plan_query, profile_metrics
from profiles.queries.saved_tree_input import read_saved_labels
from profiles.queries.scan import open_plan
from profiles.queries.scan_input import UNREADABLE, OpenedBlock, block_inputs, profile_facts
from profiles.queries.selection import ProfileSelection, SavedTree, Selection
from projects.profile_types import ProfileType

WEIGHTS = (50.0, 25.0, 10.0, 5.0, 1.0)  # percent
LABEL_VALUES = 1000  # most frequent values of each label that a menu shows
HEAD_ROWS = 20  # newest profiles of the head whose labels are read
BLOCKS = 2  # newest blocks whose labels are read
MAX_NAMES = 50
MAX_LABEL_VALUES = 50  # of each name


@dataclass(frozen=True, slots=True)
class MenuChoice:
    """Value in a menu of the picker."""

    value: str
    profiles: int  # in the range


@dataclass(frozen=True, slots=True)
class WeightChoice:
    """Weights of the top `percent` of the profiles, from `lowest` to `highest`."""

    percent: float
    profiles: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class OptionsResult:
    """Choices in the picker's menus; each menu ignores what the other menus have selected."""

    zones: tuple[MenuChoice, ...]  # of the service and type within the range, as all menus
    versions: tuple[MenuChoice, ...]
    labels: dict[str, tuple[MenuChoice, ...]]
    weights: tuple[WeightChoice, ...]
    metrics: tuple[Metric, ...]


def run_options(
    context: QueryContext, service: str, type: ProfileType, start: datetime, end: datetime
) -> OptionsResult:
    """Return the zones, versions, labels, weights and metrics that have profiles in the range."""
    selection = ProfileSelection(context.project, service, type, start, end)
    with context.snapshot:
        counts = _count(context, plan_query(context, selection))
        metrics = profile_metrics(context, selection)
        by_pk = deployments_by_pk(context, counts.deployments)
    return OptionsResult(
        zones=_choices(counts.count_values({pk: each.zone for pk, each in by_pk.items()})),
        versions=_choices(counts.count_values({pk: each.version for pk, each in by_pk.items()})),
        labels=counts.labels_by_count(),
        weights=_weights(counts.sort_totals()),
        metrics=metrics,
    )


def _choices(counts: Counter[str]) -> tuple[MenuChoice, ...]:
    """Return the choices in order of their values."""
    return tuple(MenuChoice(value, counts[value]) for value in sorted(counts))


class _Counts:
    """Counts by deployment and label, and the weights, of the profiles of a service and type."""

    def __init__(self) -> None:
        self.deployments: Counter[int] = Counter()
        self._labels: dict[str, Counter[str]] = {}
        self._weights = [np.empty(0, np.int64)]

    def add_head(self, rows: QuerySet[Profile]) -> None:
        """Add head rows with one statement.

        It reads labels as text, so that the few distinct ones are parsed once each.
        """
        columns = rows.order_by().values_list(
            "deployment_id", Cast("labels", TextField()), "weight"
        )
        values = list(columns.iterator())
        self.deployments.update(deployment for deployment, _, _ in values)
        for labels, count in Counter(labels for _, labels, _ in values).items():
            self._label(orjson.loads(labels).items(), count)
        self._weights.append(np.array([weight for _, _, weight in values], np.int64))

    def add(self, columns: ProfileColumns, matching: NDArray[np.int64]) -> None:
        pks, counts = np.unique(columns.deployment[matching], return_counts=True)
        self.deployments.update(dict(zip(pks.tolist(), counts.tolist(), strict=True)))
        sets = np.bincount(columns.label_set[matching], minlength=len(columns.label_sets))
        for labels, count in zip(columns.label_sets, sets.tolist(), strict=True):
            if count:
                self._label(labels, count)
        self._weights.append(columns.weight[matching])

    def count_values(self, values: dict[int, str]) -> Counter[str]:
        """Count profiles by the value of their deployment (pk → value) in `values`.

        Deleted deployments are not in `values`, so their profiles are not counted.
        """
        counts: Counter[str] = Counter()
        for pk, value in values.items():
            counts[value] += self.deployments[pk]
        return counts

    def labels_by_count(self) -> dict[str, tuple[MenuChoice, ...]]:
        """Return the values of each label with their counts, the most frequent first."""
        return {
            name: tuple(
                MenuChoice(*entry)
                for entry in sorted(self._labels[name].items(), key=lambda e: (-e[1], e[0]))
            )[:LABEL_VALUES]
            for name in sorted(self._labels)
        }

    def sort_totals(self) -> NDArray[np.int64]:
        """Return the weights of all profiles, the greatest first."""
        return np.sort(np.concatenate(self._weights))[::-1]

    def _label(self, labels: Iterable[tuple[str, str]], count: int) -> None:
        for name, value in labels:
            self._labels.setdefault(name, Counter())[value] += count


def _count(context: QueryContext, plan: QueryPlan) -> _Counts:
    counts = _Counts()
    head, blocks = open_plan(context, plan)
    counts.add_head(head)
    for _, columns, matching in profile_facts(context, blocks):
        counts.add(columns, matching)
    return counts


def _weights(weights: NDArray[np.int64]) -> tuple[WeightChoice, ...]:
    if not len(weights):
        return ()
    counts = [(percent, top_count(len(weights), percent)) for percent in WEIGHTS]
    return tuple(WeightChoice(p, n, int(weights[n - 1]), int(weights[0])) for p, n in counts)


def run_sample_labels(context: QueryContext, selection: Selection) -> Mapping[str, tuple[str, ...]]:
    """Return the names of sample labels with some of their values, all sorted, for a menu.

    Only the newest matching profiles are read, so labels and values that are rare may be missing.
    Profiles that cannot be read are skipped.
    """
    if isinstance(selection, SavedTree):
        return _menu(read_saved_labels(context, selection))
    found: set[tuple[str, str]] = set()
    with context.snapshot:
        plan = plan_query(context, selection)
        newest = plan.head.order_by("-time").values_list("tree", flat=True)[:HEAD_ROWS]
        for tree in newest if plan.has_head else ():
            try:
                sets = read_numbers(bytes(tree)).head["labels"]
            except (BadTree, KeyError):
                continue
            found.update((str(label[0]), str(label[1])) for labels in sets for label in labels)
        for each in block_inputs(context, plan.filter, plan.blocks[-BLOCKS:]):
            context.check()
            found |= _read_labels(each.opened)
    return _menu(found)


def _menu(found: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for name, value in sorted(found):
        if name and (name in values or len(values) < MAX_NAMES):
            values.setdefault(name, []).append(value)
    return {
        name: tuple(filter(None, allowed))[:MAX_LABEL_VALUES] for name, allowed in values.items()
    }


def _read_labels(opened: OpenedBlock) -> set[tuple[str, str]]:
    try:
        labelled = (opened.day if opened.row.is_day else opened.hour).labelled
    except UNREADABLE:
        return set()
    sets = labelled.label_sets if labelled else ()
    return {(label.key, label.value) for labels in sets for label in labels}
