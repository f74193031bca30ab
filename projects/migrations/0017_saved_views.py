"""Saved views."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0016_user_editor_url"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                (
                    "page",
                    models.CharField(
                        choices=[
                            ("services", "Services"),
                            ("flame", "Flame graph"),
                            ("compare", "Compare"),
                            ("history", "History"),
                            ("breakdown", "Breakdown"),
                            ("profiles", "Profiles"),
                            ("agents", "Agents"),
                        ],
                        max_length=10,
                        verbose_name="page",
                    ),
                ),
                ("query", models.TextField(blank=True, verbose_name="parameters")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="created by",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "saved view",
                "verbose_name_plural": "saved views",
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="saved_view_name_once")
                ],
            },
        ),
    ]
