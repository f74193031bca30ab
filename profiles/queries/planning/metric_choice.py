"""Metrics of the selected profiles, and the choice of the metric to show."""

from collections.abc import Sequence

from profiles.engine.metrics import DEFAULT_METRICS, SECOND_CHOICE, Metric, canonical, normalise
from profiles.queries.planning.block_index import largest_rows, of_largest
from profiles.queries.planning.head_rows import newest_totals, of_newest
from profiles.queries.selection import MetricNotFound, Selection, View
from profiles.storage.round_trip import execute_ahead

BLOCKS_LOOKED_AT = 5  # newest blocks to read metrics from: a service's metrics rarely change


def look_ahead(*selections: Selection) -> None:
    """Prefetch the statements with which most queries begin, in one database round trip.

    Call this inside a snapshot.
    """
    execute_ahead([question(each) for each in selections for question in (of_newest, of_largest)])


def metrics_of(selection: Selection) -> tuple[Metric, ...]:
    """Return the metrics of the selection's newest profiles, the default one to show first.

    Without profiles, return the type's default metric alone.
    """
    look_ahead(selection)
    found: dict[Metric, None] = {}
    type_ = selection.type.value
    for profile in newest_totals(selection):
        named = canonical(type_, tuple(Metric(name, unit) for name, unit, _ in profile))
        found.update(dict.fromkeys(named))
    for block in _of_blocks(selection):  # profiles of a block may differ: map each metric alone
        for name, unit, _ in block:
            found.update(dict.fromkeys(canonical(type_, (Metric(name, unit),))))
    wanted = [DEFAULT_METRICS[type_], *SECOND_CHOICE.get(type_, ())]
    first = [metric for metric in wanted if metric in found] or list(found)[:1]
    return tuple(dict.fromkeys([*first[:1], *found])) or (DEFAULT_METRICS[type_],)


def _of_blocks(selection: Selection) -> list[Sequence[tuple[str, str, int]]]:
    newest = largest_rows(selection)[: -BLOCKS_LOOKED_AT - 1 : -1]
    return [row.metrics for row in newest]


def chosen(selection: Selection, view: View, metrics: tuple[Metric, ...]) -> Metric:
    """Return the metric of the view; without a unit, the first metric of its name.

    A name also matches in other case and as a synonym of the metric. Raise MetricNotFound if the
    profiles do not have the metric.
    """
    if view.metric is None:
        return metrics[0]
    if view.metric in metrics:
        return view.metric
    name, unit = view.metric
    meant = [metric for metric in metrics if metric.name == name and not unit] or [
        metric
        for metric in metrics
        if metric == normalise(selection.type.value, name, unit or metric.unit)[0]
    ]
    if meant:
        return meant[0]
    names = ", ".join(f"{metric.name} ({metric.unit})" for metric in metrics)
    raise MetricNotFound(f"These profiles have no metric {view.metric.name}; they have {names}.")
