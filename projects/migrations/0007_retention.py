"""Retention of a project, and the time at which a project will be deleted."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0006_operators"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="deletion_due",
            field=models.DateTimeField(editable=False, null=True, verbose_name="deleted on"),
        ),
        migrations.AddField(
            model_name="project",
            name="retention_days",
            field=models.PositiveIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="retention in days",
            ),
        ),
    ]
