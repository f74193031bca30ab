"""Rename a model and a field; the table and the columns keep their names, so that no SQL runs."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("profiles", "0003_parts")]
    operations = [
        migrations.AlterModelTable("keptname", "profiles_keptname"),
        migrations.RenameModel("KeptName", "DeduplicationKey"),
        migrations.AlterField(
            "deduplicationkey",
            "block",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deduplication_keys",
                to="profiles.block",
            ),
        ),
        migrations.AlterField(
            "profile",
            "set_aside",
            models.BooleanField(db_column="set_aside", db_default=False, default=False),
        ),
        migrations.RenameField("profile", "set_aside", "quarantined"),
        migrations.AlterField(
            "block", "set_aside", models.BooleanField(db_column="set_aside", default=False)
        ),
        migrations.RenameField("block", "set_aside", "quarantined"),
    ]
