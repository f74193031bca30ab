"""Migrations that rename models and fields leave the stored names as they are."""

import io

import pytest
from django.core.management import call_command

from profiles.models import Block, DeduplicationKey, Profile


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


def test_stored_names_stay() -> None:
    assert DeduplicationKey._meta.db_table == "profiles_keptname"
    for model in (Profile, Block):
        assert model._meta.get_field("quarantined").column == "set_aside"
    columns = {field.name: field.column for field in Block._meta.concrete_fields}
    names = ("resolution", "is_level0", "day_block")
    assert [columns[name] for name in names] == ["level", "is_part", "covered_by_id"]
