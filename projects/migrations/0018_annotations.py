"""Add annotations: notes at a time or at a function."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0017_saved_views"),
    ]

    operations = [
        migrations.CreateModel(
            name="Annotation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(blank=True, null=True, verbose_name="time")),
                (
                    "service",
                    models.CharField(
                        blank=True, default="", max_length=255, verbose_name="service"
                    ),
                ),
                (
                    "version",
                    models.CharField(
                        blank=True, default="", max_length=512, verbose_name="version"
                    ),
                ),
                (
                    "function",
                    models.TextField(
                        blank=True, default="", max_length=10000, verbose_name="function"
                    ),
                ),
                ("text", models.CharField(max_length=500, verbose_name="text")),
                (
                    "link",
                    models.CharField(blank=True, default="", max_length=500, verbose_name="link"),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "created_key",
                    models.CharField(blank=True, default="", max_length=32, verbose_name="API key"),
                ),
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
                        related_name="annotations",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "annotation",
                "verbose_name_plural": "annotations",
                "indexes": [models.Index(fields=["project", "at"], name="annotation_by_time")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at__isnull", False), ("function", "")),
                            models.Q(
                                ("at__isnull", True),
                                models.Q(("function", ""), _negated=True),
                                models.Q(("service", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="annotation_of_a_time_or_a_function",
                    )
                ],
            },
        ),
    ]
