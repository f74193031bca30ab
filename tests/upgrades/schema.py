"""Schemas of databases, in a form in which two can be compared."""

import re
from typing import Any

from django.db import connection

Schema = dict[str, list[str]]  # lines by table

# Names that Django and PostgreSQL generate from names of tables and columns. Nothing refers to
# them, and they stay when a table or a column is renamed.
_GENERATED = re.compile(r"\b\w+_([0-9a-f]{8}\w*|pkey|key|check|not_null|id_seq)\b")

# Lists of texts: a restored dump casts each text instead of the array.
_CAST_TEXT = re.compile(r"\(('[^']*'::character varying)\)::text")
_CAST_ARRAY = re.compile(r"\((ARRAY\[[^]]*\])\)::text\[\]")

_POSTGRESQL = (
    """
    SELECT table_name, concat_ws(' ', column_name, data_type, character_maximum_length,
        numeric_precision, is_nullable, column_default, is_identity, collation_name)
    FROM information_schema.columns WHERE table_schema = 'public'
    """,
    """
    SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'
    """,
    """
    SELECT conrelid::regclass::text, concat_ws(' ', conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    """,
    """
    SELECT event_object_table, action_statement FROM information_schema.triggers
    WHERE trigger_schema = 'public'
    """,
)


def read_schema() -> Schema:
    """Return the sorted columns, indexes, constraints and triggers of all tables."""
    schema: Schema = {}
    for table, line in _postgresql() if connection.vendor == "postgresql" else _sqlite():
        schema.setdefault(table, []).append(_GENERATED.sub("*", line))
    return {table: sorted(lines) for table, lines in sorted(schema.items())}


def read_applied() -> list[list[str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
        return [list(row) for row in cursor.fetchall()]


def _postgresql() -> list[tuple[str, str]]:
    rows = [row for query in _POSTGRESQL for row in _select(query)]
    return [(table, _CAST_ARRAY.sub(r"\1", _CAST_TEXT.sub(r"\1", line))) for table, line in rows]


def _sqlite() -> list[tuple[str, str]]:
    """Split statements that create tables into their columns, whose order may differ."""
    lines = []
    for kind, table, sql in _select("SELECT type, tbl_name, sql FROM sqlite_master"):
        if kind != "table":
            lines.append((table, sql or "automatic index"))
        elif not table.startswith("sqlite_"):
            _, _, body = sql.partition("(")
            lines += [(table, part.strip()) for part in _split(body.rstrip().removesuffix(")"))]
    return lines


def _split(body: str) -> list[str]:
    """Split by the commas that are outside of brackets."""
    parts, depth = [""], 0
    for character in body:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _select(query: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())
