"""Rename columns and a table by the glossary."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("profiles", "0009_block_level_names"),
    ]

    operations = [
        migrations.AlterField(
            model_name="block",
            name="day_block",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="hour_blocks",
                to="profiles.block",
            ),
        ),
        migrations.AlterField(
            model_name="block",
            name="is_level0",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="block",
            name="quarantined",
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name="block",
            name="resolution",
            field=models.CharField(
                choices=[("hour", "each profile by itself"), ("day", "sums")], max_length=4
            ),
        ),
        migrations.AlterField(
            model_name="profile",
            name="quarantined",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterModelTable(
            name="deduplicationkey",
            table=None,
        ),
    ]
