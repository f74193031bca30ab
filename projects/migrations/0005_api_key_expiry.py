"""API keys that expire, allowed services, address of the last use, and rotation."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0004_access_tokens"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="expires",
            field=models.DateTimeField(blank=True, null=True, verbose_name="expires"),
        ),
        migrations.AddField(
            model_name="apikey",
            name="last_used_from",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                max_length=64,
                verbose_name="last used from",
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="replaced_by",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="replaces",
                to="projects.apikey",
                verbose_name="replaced by",
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="services",
            field=models.JSONField(
                blank=True,
                db_default=models.Value([], models.JSONField()),
                default=list,
                verbose_name="allowed services",
            ),
        ),
    ]
