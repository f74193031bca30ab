"""Migrations that rename models and fields run no SQL."""

import io

import pytest
from django.core.management import call_command


# SQLite's schema editor cannot be opened in a transaction.
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "migration", [("profiles", "0004"), ("profiles", "0009"), ("projects", "0008")]
)
def test_renaming_runs_no_sql(migration: tuple[str, str]) -> None:
    out = io.StringIO()
    call_command("sqlmigrate", *migration, stdout=out)
    statements = [line for line in out.getvalue().splitlines() if not line.startswith("--")]
    assert [line for line in statements if line not in ("BEGIN;", "COMMIT;", "")] == []
