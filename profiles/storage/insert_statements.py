"""SQL statements of the commit that each upload waits for.

Written by hand because the ORM would spend more CPU time on building them than the database
spends on executing them.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

from django.db import connection
from django.utils import timezone

from profiles.models import Profile
from profiles.storage.new_profile import NewProfile
from projects.models import DayUsage

Name = tuple[int, str]  # project, name_id

_COLUMNS = (
    *("project_id", "deployment_id", "agent_id", "service", "type", "time", "time_source"),
    *("duration_ns", "labels", "name_id", "body_hash", "samples", "weight", "totals", "tree"),
    "stored_at",
)


def insert_profiles(profiles: Sequence[NewProfile]) -> set[Name]:
    """Insert the profiles whose names are not in the head, and return the inserted names.

    The names in `profiles` have to be distinct.
    """
    stored_at = connection.ops.adapt_datetimefield_value(timezone.now())
    values = [value for new in profiles for value in (*_values(new), stored_at)]
    with connection.cursor() as cursor:
        cursor.execute(_insert(len(profiles)), values)
        return {(project, name_id) for project, name_id in cursor.fetchall()}


def add_usage(day: date, usage: Mapping[int, tuple[int, int]]) -> None:
    """Add (profiles, bytes) to the usage of each project on a day.

    Rows are locked in order of project, so that concurrent writers do not deadlock.
    """
    text = connection.ops.adapt_datefield_value(day)
    values = [value for pk in sorted(usage) for value in (pk, text, *usage[pk])]
    with connection.cursor() as cursor:
        cursor.execute(_upsert(len(usage)), values)


def _values(new: NewProfile) -> tuple[Any, ...]:
    return (
        new.project,
        new.deployment,
        new.agent,
        new.service,
        new.type.value,
        connection.ops.adapt_datetimefield_value(new.time),
        new.time_source.value,
        new.duration_ns,
        json.dumps(new.labels),
        new.name_id,
        new.body_hash,
        new.samples,
        new.weight,
        json.dumps(new.totals),
        new.tree,
    )


@cache
def _insert(rows: int) -> str:
    table = Profile._meta.db_table
    placeholders = ", ".join(["%s"] * len(_COLUMNS))
    return (  # only constants are formatted into the statement
        f"INSERT INTO {table} ({', '.join(_COLUMNS)}) VALUES {_times(placeholders, rows)} "  # noqa: S608
        "ON CONFLICT (project_id, name_id) DO NOTHING RETURNING project_id, name_id"
    )


@cache
def _upsert(rows: int) -> str:
    table = DayUsage._meta.db_table
    columns = "project_id, day, profiles, stored_bytes, new_deployments, refused"
    return (
        f"INSERT INTO {table} ({columns}) "  # noqa: S608
        f"VALUES {_times('%s, %s, %s, %s, 0, 0', rows)} ON CONFLICT (project_id, day) DO UPDATE "
        f"SET profiles = {table}.profiles + excluded.profiles, "
        f"stored_bytes = {table}.stored_bytes + excluded.stored_bytes"
    )


def _times(placeholders: str, rows: int) -> str:
    return ", ".join([f"({placeholders})"] * rows)
