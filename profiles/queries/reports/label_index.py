"""Labels and deployments of the stored profiles by service and type, without reading blocks.

The names and values are those in the summaries of blocks, which have MOST_LABELS names and the
MOST_VALUES most frequent values of each, and those of head rows. An hour block that lies partly in
the range counts as a whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson
from django.db import connection
from django.db.models import QuerySet, TextField
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from profiles.models import Block, Profile
from profiles.queries.context import QueryContext
from profiles.queries.reports.block_counts import cut_off, whole
from projects.profile_types import ProfileType

ServiceType = tuple[str, ProfileType]
_Rows = Iterable[tuple[Any, ...]]

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
