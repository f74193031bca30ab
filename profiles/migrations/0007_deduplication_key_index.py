"""Rename an index by the glossary. Statements do not name indexes, so old processes still run."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("profiles", "0006_snapshot_names")]
    operations = [
        migrations.RenameIndex(
            "deduplicationkey", new_name="deduplication_key_by_name", old_name="kept_name"
        )
    ]
