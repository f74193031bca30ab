"""Add the rejected requests of each project, day and reason."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0008_plain_names")]
    operations = [
        migrations.CreateModel(
            name="DayRejections",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("reason", models.CharField(max_length=40)),
                ("count", models.PositiveBigIntegerField(default=0)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rejections",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "verbose_name": "rejections of a day",
                "verbose_name_plural": "rejections by day",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "day", "reason"), name="one_row_a_day_and_reason"
                    )
                ],
            },
        ),
    ]
