"""Snapshots of results."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("profiles", "0004_plain_names"),
        ("projects", "0017_saved_views"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ResultSnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("snapshot_id", models.CharField(max_length=16, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("selection", "Selection"), ("file", "File")], max_length=9
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("service", models.CharField(blank=True, max_length=255)),
                ("type", models.CharField(max_length=10)),
                ("start", models.DateTimeField()),
                ("end", models.DateTimeField()),
                ("query", models.TextField(blank=True)),
                ("metrics", models.JSONField()),
                ("profiles", models.PositiveIntegerField()),
                ("duration_ns", models.BigIntegerField()),
                ("left_out", models.PositiveIntegerField(default=0)),
                ("warnings", models.JSONField(default=list)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "blob",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.RESTRICT, to="profiles.blob"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="projects.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "created"], name="snapshot_by_creation")
                ],
            },
        ),
    ]
