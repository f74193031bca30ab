"""Which metrics the selected profiles have, and which of them is shown."""

from collections.abc import Sequence

from profiles.engine.metrics import DEFAULT_METRICS, SECOND_CHOICE, Metric, canonical, normalise
from profiles.queries.planning.block_index import largest_rows, of_largest
from profiles.queries.planning.head_rows import newest_totals, of_newest
from profiles.queries.selection import MetricNotFound, Selection, View
from profiles.storage.round_trip import execute_ahead

BLOCKS_LOOKED_AT = 5  # of the newest: a service's metrics seldom change


def look_ahead(*selections: Selection) -> None:
    """Inside a snapshot, ask at once what most questions about these begin with."""
    execute_ahead([question(each) for each in selections for question in (of_newest, of_largest)])


def metrics_of(selection: Selection) -> tuple[Metric, ...]:
    """Metrics of the selection's newest profiles; the one that is shown by itself comes first."""
    look_ahead(selection)
    found: dict[Metric, None] = {}
    type_ = selection.type.value
    for profile in newest_totals(selection):
        named = canonical(type_, tuple(Metric(name, unit) for name, unit, _ in profile))
        found.update(dict.fromkeys(named))
    for block in _of_blocks(selection):  # of profiles of several kinds: each metric by itself
        for name, unit, _ in block:
            found.update(dict.fromkeys(canonical(type_, (Metric(name, unit),))))
    wanted = [DEFAULT_METRICS[type_], *SECOND_CHOICE.get(type_, ())]
    first = [metric for metric in wanted if metric in found] or list(found)[:1]
    return tuple(dict.fromkeys([*first[:1], *found])) or (DEFAULT_METRICS[type_],)


def _of_blocks(selection: Selection) -> list[Sequence[tuple[str, str, int]]]:
    newest = largest_rows(selection)[: -BLOCKS_LOOKED_AT - 1 : -1]
    return [row.metrics for row in newest]


def chosen(selection: Selection, view: View, metrics: tuple[Metric, ...]) -> Metric:
    """The metric of the view, or the first of its name where it says no unit.

    Names count without case, and so do others of the same metric. NoSuchMetric if the profiles
    don't have it.
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
