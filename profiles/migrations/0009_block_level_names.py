"""Rename fields of Block; the columns keep their names, so that no SQL runs."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("profiles", "0008_quarantined_indexes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex("block", "block_by_start"),
                migrations.RemoveIndex("block", "block_of_project"),
                migrations.RemoveIndex("block", "block_by_last"),
                migrations.RemoveIndex("block", "block_part"),
                migrations.RenameField("block", "level", "resolution"),
                migrations.RenameField("block", "is_part", "is_level0"),
                migrations.RenameField("block", "covered_by", "day_block"),
                migrations.AlterField(
                    "block",
                    "resolution",
                    models.CharField(
                        choices=[("hour", "each profile by itself"), ("day", "sums")],
                        db_column="level",
                        max_length=4,
                    ),
                ),
                migrations.AlterField(
                    "block",
                    "is_level0",
                    models.BooleanField(db_column="is_part", db_default=False, default=False),
                ),
                migrations.AlterField(
                    "block",
                    "day_block",
                    models.ForeignKey(
                        db_column="covered_by_id",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="hour_blocks",
                        to="profiles.block",
                    ),
                ),
                migrations.AddIndex(
                    "block",
                    models.Index(
                        fields=["project", "service", "type", "resolution", "start"],
                        name="block_by_start",
                    ),
                ),
                migrations.AddIndex(
                    "block",
                    models.Index(
                        fields=["project", "resolution", "start"], name="block_of_project"
                    ),
                ),
                migrations.AddIndex(
                    "block",
                    models.Index(fields=["project", "resolution", "last"], name="block_by_last"),
                ),
                migrations.AddIndex(
                    "block",
                    models.Index(
                        condition=models.Q(("is_level0", True)),
                        fields=["day_block", "start"],
                        name="block_part",
                    ),
                ),
            ]
        )
    ]
