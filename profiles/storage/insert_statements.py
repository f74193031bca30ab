"""SQL statements of the commit that each upload waits for.

Written by hand because the ORM would spend more CPU time on building them than the database
spends on executing them.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from profiles.models import Blob, Block, DeduplicationKey, Profile, Resolution
from profiles.storage.new_profile import NewProfile
from projects.models import DayUsage

Name = tuple[int, str]  # project, name_id
# Compaction merges hour blocks of one day at most, so that a block starts at most so long before
# its last profile.
_LONGEST_BLOCK = timedelta(days=1)

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


class CopyRow(NamedTuple):
    """Row of `select_copies`: a profile found by its name, or a block that may have it."""

    position: int  # of the profile in the sequence
    name_id: str | None  # under which it is stored; None: it may be in this block
    block: int  # Block.pk
    key: str  # of the block's blob
    offset: int  # bytes, in the blob
    length: int  # bytes


def select_copies(profiles: Sequence[tuple[NewProfile, datetime]]) -> list[CopyRow]:
    """Find profiles by their deduplication keys and hour blocks of these times."""
    adapted = connection.ops.adapt_datetimefield_value
    values = [
        value
        for index, (new, time) in enumerate(profiles)
        for value in (
            *(index, new.project, new.service, new.type.value),
            *(adapted(time - _LONGEST_BLOCK), adapted(time), new.name_id),
        )
    ]
    with connection.cursor() as cursor:
        cursor.execute(_copies(len(profiles)), values)
        return [CopyRow(*row) for row in cursor.fetchall()]


def delete_profiles(names: Sequence[Name]) -> None:
    """Delete profiles that the transaction has inserted."""
    values = [value for name in names for value in name]
    with connection.cursor() as cursor:
        cursor.execute(_delete(len(names)), values)


def add_usage(day: date, usage: Mapping[int, tuple[int, int]]) -> None:
    """Add (profiles, bytes) to the usage of each project on a day.

    Rows are locked in order of project, so that concurrent writers do not deadlock.
    """
    text = connection.ops.adapt_datefield_value(day)
    values = [value for pk in sorted(usage) for value in (pk, text, *usage[pk])]
    with connection.cursor() as cursor:
        cursor.execute(_upsert(len(usage)), values)


def _values(new: NewProfile) -> tuple[Any, ...]:
    content = new.content
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
        content.body_hash,
        content.samples,
        content.weight,
        json.dumps(content.totals),
        content.tree,
    )


@cache
def _insert(rows: int) -> str:
    table = Profile._meta.db_table
    placeholders = ", ".join(["%s"] * len(_COLUMNS))
    return (  # only constants are formatted into the statement
        f"INSERT INTO {table} ({', '.join(_COLUMNS)}) VALUES {_times(placeholders, rows)} "  # noqa: S608
        "ON CONFLICT (project_id, name_id) DO NOTHING RETURNING project_id, name_id"
    )


@lru_cache(64)
def _copies(rows: int) -> str:
    blocks, blobs = Block._meta.db_table, Blob._meta.db_table
    keys = DeduplicationKey._meta.db_table
    is_quarantined = f"b.{Block._meta.get_field('quarantined').column}"
    columns = "i, project_id, service, type, since, time, name_id"
    return f"""
        WITH lookups({columns}) AS (VALUES {_times("%s, %s, %s, %s, %s, %s, %s", rows)})
        SELECT lookups.i, NULL, b.id, f.key, b."offset", b.length FROM lookups
        JOIN {blocks} b ON b.project_id = lookups.project_id AND b.service = lookups.service
            AND b.type = lookups.type AND b.resolution = '{Resolution.PROFILE}'
            AND b.start > lookups.since AND b.start <= lookups.time
            AND b.first <= lookups.time AND b.last >= lookups.time AND NOT {is_quarantined}
        JOIN {blobs} f ON f.id = b.blob_id
        UNION ALL
        SELECT lookups.i, k.name_id, NULL, NULL, NULL, NULL FROM lookups
        JOIN {keys} k ON k.project_id = lookups.project_id
            AND k.name_id = lookups.name_id
    """  # noqa: S608


@lru_cache(64)
def _delete(rows: int) -> str:
    table = Profile._meta.db_table
    return f"DELETE FROM {table} WHERE (project_id, name_id) IN (VALUES {_times('%s, %s', rows)})"  # noqa: S608


@cache
def _upsert(rows: int) -> str:
    table = DayUsage._meta.db_table
    columns = "project_id, day, profiles, stored_bytes, new_deployments, rejected"
    return (
        f"INSERT INTO {table} ({columns}) "  # noqa: S608
        f"VALUES {_times('%s, %s, %s, %s, 0, 0', rows)} ON CONFLICT (project_id, day) DO UPDATE "
        f"SET profiles = {table}.profiles + excluded.profiles, "
        f"stored_bytes = {table}.stored_bytes + excluded.stored_bytes"
    )


def _times(placeholders: str, rows: int) -> str:
    return ", ".join([f"({placeholders})"] * rows)
