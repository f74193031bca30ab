"""Inventory of the stored profiles by service and type: amounts, metrics, labels, deployments.

It is read from head rows and the rows of blocks, without their bytes, except for counts of
deployments at the edges of a range. Elsewhere an hour block that lies partly in the range counts
as a whole.

Labels and their values are those in the summaries of blocks, which have MOST_LABELS names and the
MOST_VALUES most frequent values of each, and those of head rows.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import orjson
from django.db import connection
from django.db.models import Count, Max, QuerySet, Sum, TextField
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast, Length

from profiles.engine.blocks import RowFilter
from profiles.engine.metrics import Metric, canonical
from profiles.engine.timestamps import micros
from profiles.models import Block, Profile
from profiles.queries.context import QueryContext
from profiles.queries.plan import read_block_rows
from profiles.queries.reports.block_counts import cut_off, whole
from profiles.queries.scan_input import block_inputs, profile_facts
from projects.models import Deployment
from projects.profile_types import ProfileType

ServiceType = tuple[str, ProfileType]
_Rows = Iterable[tuple[Any, ...]]
_Count = tuple[int, str, int]  # Deployment.pk, type, profiles
# Distinct keys of a JSON object of each block, and of an object inside it.
_KEYS = {
    "sqlite": "SELECT DISTINCT b.service, b.type, k.key FROM ({blocks}) b, json_each(b.field) k",
    "postgresql": "SELECT DISTINCT b.service, b.type, k.key FROM ({blocks}) b, "
    "jsonb_object_keys(b.field) AS k(key)",
}
_KEYS_WITHIN = {
    "sqlite": "SELECT DISTINCT b.service, b.type, v.key FROM ({blocks}) b, json_each(b.field) k, "
    "json_each(k.value) v WHERE k.key = %s",
    "postgresql": "SELECT DISTINCT b.service, b.type, v.key FROM ({blocks}) b, "
    "jsonb_object_keys(b.field -> %s) AS v(key)",
}


@dataclass(frozen=True, slots=True)
class StoredAmount:
    """Head rows and blocks of a service and type in a range; cut-off blocks count as a whole."""

    rows: int = 0  # profiles in the head
    samples: int = 0  # of these rows
    row_bytes: int = 0  # of their call trees
    blocks: int = 0
    block_profiles: int = 0
    block_bytes: int = 0

    @property
    def inputs(self) -> int:
        """Return the number of head rows and blocks."""
        return self.rows + self.blocks


def run_stored_amounts(
    context: QueryContext, start: datetime, end: datetime
) -> Mapping[ServiceType, StoredAmount]:
    """Return the amounts of each service and type with data in the range, with two statements."""
    project = context.project
    with context.snapshot:
        rows = Profile.objects.filter(project=project, time__gte=start, time__lt=end).order_by()
        head = _sum_by_series(rows, Count("pk"), Sum("samples"), Sum(Length("tree")))
        context.check()
        blocks = Block.objects.filter(
            whole(project, start, end) | cut_off(project, start, end)
        ).order_by()
        stored = _sum_by_series(blocks, Count("pk"), Sum("profiles"), Sum("length"))
    context.check()
    nothing = (0, 0, 0)
    return {
        (service, ProfileType(type_)): StoredAmount(
            *head.get((service, type_), nothing), *stored.get((service, type_), nothing)
        )
        for service, type_ in sorted({*head, *stored})
    }


def _sum_by_series(
    rows: "QuerySet[Profile] | QuerySet[Block]", *sums: Count | Sum
) -> dict[tuple[str, str], tuple[int, int, int]]:
    named = {f"sum_{number}": each for number, each in enumerate(sums)}
    found = rows.values_list("service", "type").annotate(**named)
    return {(service, type_): tuple(own) for service, type_, *own in found}


def run_stored_metrics(
    context: QueryContext, start: datetime, end: datetime
) -> Mapping[ServiceType, tuple[Metric, ...]]:
    """Return the metrics of each service and type with profiles in the range, sorted.

    An hour block that lies partly in the range counts even if its profiles lie outside. Of the
    head, the newest profile of each service and type counts.
    """
    project = context.project
    found: dict[ServiceType, dict[Metric, None]] = {}
    with context.snapshot:
        blocks = Block.objects.filter(
            whole(project, start, end) | cut_off(project, start, end)
        ).order_by()
        stored = blocks.values_list("service", "type", "summary__metrics").distinct()
        for service, type_, metrics in stored:
            named = (canonical(type_, (Metric(name, unit),)) for name, unit, _ in metrics)
            own = found.setdefault((service, ProfileType(type_)), {})
            own.update((metric, None) for each in named for metric in each)
        context.check()
        rows = Profile.objects.filter(project=project, time__gte=start, time__lt=end).order_by()
        newest = rows.values("service", "type").annotate(newest=Max("pk")).values("newest")
        head = Profile.objects.filter(pk__in=newest).order_by()
        for service, type_, totals in head.values_list("service", "type", "totals"):
            named_row = canonical(type_, tuple(Metric(name, unit) for name, unit, _ in totals))
            found.setdefault((service, ProfileType(type_)), {}).update(dict.fromkeys(named_row))
    context.check()
    return {key: tuple(sorted(found[key])) for key in sorted(found)}


def run_label_names(
    context: QueryContext, start: datetime, end: datetime
) -> Mapping[ServiceType, frozenset[str]]:
    """Return the names of the profile labels of each service and type."""
    blocks = _keys(context, "labels", start, end, _KEYS)
    head = (
        (service, type_, name)
        for service, type_, labels in _head_labels(context, start, end)
        for name in labels
    )
    return _group_values([*blocks, *head])


def run_label_values(
    context: QueryContext, name: str, start: datetime, end: datetime
) -> Mapping[ServiceType, frozenset[str]]:
    """Return the values of a profile label of each service and type that have it."""
    blocks = _keys(context, "labels", start, end, _KEYS_WITHIN, name)
    head = (
        (service, type_, labels[name])
        for service, type_, labels in _head_labels(context, start, end)
        if name in labels
    )
    return _group_values([*blocks, *head])


def run_stored_deployments(
    context: QueryContext, start: datetime, end: datetime
) -> Mapping[ServiceType, frozenset[int]]:
    """Return Deployment.pk of the deployments of each service and type with profiles."""
    blocks = _keys(context, "deployments", start, end, _KEYS)
    head = _head(context, start, end).values_list("service", "type", "deployment_id").distinct()
    found: dict[ServiceType, set[int]] = {}
    for service, type_, key in blocks:
        found.setdefault((service, ProfileType(type_)), set()).add(int(key))
    for service, type_, pk in head:
        found.setdefault((service, ProfileType(type_)), set()).add(pk)
    return {key: frozenset(pks) for key, pks in found.items()}


def _keys(
    context: QueryContext,
    field: str,
    start: datetime,
    end: datetime,
    statements: Mapping[str, str],
    *parameters: str,
) -> list[tuple[str, str, str]]:
    """Return (service, type, key) for the keys of a field of the blocks' summaries."""
    context.check()
    project = context.project
    rows = Block.objects.filter(
        whole(project, start, end) | cut_off(project, start, end)
    ).order_by()
    sql, values = (
        rows.annotate(field=KeyTransform(field, "summary"))
        .values_list("service", "type", "field")
        .query.sql_with_params()
    )
    # The statement's text is built from constants and Django's SQL; values are parameters.
    statement = statements[connection.vendor].format(blocks=sql)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, *parameters])
        found: list[tuple[str, str, str]] = cursor.fetchall()
    return found


def _head(context: QueryContext, start: datetime, end: datetime) -> "QuerySet[Profile]":
    rows = Profile.objects.filter(project=context.project, time__gte=start, time__lt=end)
    return rows.order_by()


def _head_labels(
    context: QueryContext, start: datetime, end: datetime
) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield the distinct label sets of head rows by service and type."""
    context.check()
    texts = _head(context, start, end).annotate(text=Cast("labels", TextField()))
    for service, type_, text in texts.values_list("service", "type", "text").distinct():
        yield service, type_, orjson.loads(text)


def _group_values(rows: _Rows) -> Mapping[ServiceType, frozenset[str]]:
    found: dict[ServiceType, set[str]] = {}
    for service, type_, value in rows:
        found.setdefault((service, ProfileType(type_)), set()).add(value)
    return {key: frozenset(values) for key, values in found.items()}


def run_deployment_counts(
    context: QueryContext, deployments: Sequence[int], start: datetime, end: datetime
) -> dict[int, dict[ProfileType, int]]:
    """Count profiles in the range by Deployment.pk and type, without zero counts."""
    sums: dict[int, Counter[ProfileType]] = {pk: Counter() for pk in deployments}
    with context.snapshot:
        counts = [*_count_head_by_deployment(context.project, deployments, start, end)]
        rows = Deployment.objects.filter(project=context.project, pk__in=deployments).order_by()
        services = [*rows.values_list("service", flat=True).distinct()]
        counts += _count_blocks_by_deployment(context, services, start, end)
    context.check()
    for pk, type_, count in counts:
        if pk in sums:
            sums[pk][ProfileType(type_)] += count
    return {pk: dict(of_pk) for pk, of_pk in sums.items() if of_pk}


def _count_head_by_deployment(
    project: int, deployments: Sequence[int], start: datetime, end: datetime
) -> Iterator[_Count]:
    rows = Profile.objects.filter(
        project=project, deployment__in=deployments, time__gte=start, time__lt=end
    )
    yield from rows.order_by().values_list("deployment", "type").annotate(Count("pk"))


def _count_blocks_by_deployment(
    context: QueryContext, services: Sequence[str], start: datetime, end: datetime
) -> Iterator[_Count]:
    """Count from the rows of blocks; read only the blocks that lie partly in the range."""
    project = context.project
    blocks = Block.objects.filter(project=project, service__in=services).order_by()
    inside = blocks.filter(whole(project, start, end))
    for type_, summary in inside.values_list("type", "summary__deployments"):
        for pk, (count, *_) in summary.items():
            yield int(pk), type_, count
    cut = read_block_rows(blocks.filter(cut_off(project, start, end)).order_by("pk"))
    inputs = block_inputs(context, RowFilter(micros(start), micros(end)), cut)
    for each, columns, matching in profile_facts(context, inputs):
        pks, counts = np.unique(columns.deployment[matching], return_counts=True)
        for pk, count in zip(pks.tolist(), counts.tolist(), strict=True):
            yield pk, each.opened.row.type, count
