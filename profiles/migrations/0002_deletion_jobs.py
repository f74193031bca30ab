"""Deletion jobs."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("profiles", "0001_initial"),
        ("projects", "0007_retention"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DeletionJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("selection", "Selection"),
                            ("service", "Service"),
                            ("project", "Project"),
                        ],
                        max_length=9,
                        verbose_name="scope",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting to start"),
                            ("deleting", "Deleting profiles"),
                            ("erasing", "Erasing storage"),
                            ("done", "Done"),
                            ("canceled", "Canceled"),
                        ],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("service", models.CharField(blank=True, max_length=255, verbose_name="service")),
                ("type", models.CharField(blank=True, max_length=10, verbose_name="profile type")),
                (
                    "zone",
                    models.CharField(blank=True, max_length=512, null=True, verbose_name="zone"),
                ),
                (
                    "version",
                    models.CharField(blank=True, max_length=512, null=True, verbose_name="version"),
                ),
                ("start", models.DateTimeField(blank=True, null=True, verbose_name="start")),
                ("end", models.DateTimeField(blank=True, null=True, verbose_name="end")),
                ("requested", models.DateTimeField(verbose_name="requested")),
                ("request_entry", models.BigIntegerField()),
                ("due", models.DateTimeField(verbose_name="starts")),
                ("erasing_since", models.DateTimeField(null=True)),
                ("finished", models.DateTimeField(null=True, verbose_name="finished")),
                ("cursor", models.BigIntegerField(default=0)),
                ("passes", models.PositiveIntegerField(default=0)),
                ("has_deleted", models.BooleanField(default=False)),
                (
                    "expected_profiles",
                    models.PositiveBigIntegerField(default=0, verbose_name="expected profiles"),
                ),
                ("profiles", models.PositiveBigIntegerField(default=0, verbose_name="profiles")),
                ("bytes", models.PositiveBigIntegerField(default=0, verbose_name="bytes")),
                ("problem", models.CharField(blank=True, max_length=500, verbose_name="problem")),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="requested by",
                    ),
                ),
            ],
            options={
                "verbose_name": "deletion",
                "verbose_name_plural": "deletions",
                "indexes": [
                    models.Index(fields=["project", "requested"], name="deletion_by_project"),
                    models.Index(fields=["state", "due"], name="deletion_by_state"),
                ],
            },
        ),
    ]
