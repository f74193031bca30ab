"""Tables as version 0.3.0 left them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    # A database of version 0.3 has all of these applied (profiler_site/process/migration.py).
    replaces = [
        ("profiles", "0002_blocks"),
        ("profiles", "0003_parts"),
        ("profiles", "0004_plain_names"),
        ("profiles", "0005_result_snapshots"),
        ("profiles", "0006_snapshot_names"),
        ("profiles", "0007_deduplication_key_index"),
        ("profiles", "0008_quarantined_indexes"),
        ("profiles", "0009_block_level_names"),
        ("profiles", "0010_column_names"),
    ]

    dependencies = [
        ("projects", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("job", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("holder", models.CharField(max_length=32)),
                ("until", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Blob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200, unique=True)),
                ("size", models.BigIntegerField()),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("dead_since", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Block",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("service", models.CharField(max_length=255)),
                ("type", models.CharField(max_length=10)),
                (
                    "resolution",
                    models.CharField(
                        choices=[("hour", "each profile by itself"), ("day", "sums")], max_length=4
                    ),
                ),
                ("is_level0", models.BooleanField(db_default=False, default=False)),
                ("start", models.DateTimeField()),
                ("end", models.DateTimeField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("profiles", models.PositiveIntegerField()),
                ("first", models.DateTimeField()),
                ("last", models.DateTimeField()),
                ("summary", models.JSONField()),
                ("arrived", models.JSONField(default=dict)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("quarantined", models.BooleanField(default=False)),
                (
                    "blob",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="blocks",
                        to="profiles.blob",
                    ),
                ),
                (
                    "day_block",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="hour_blocks",
                        to="profiles.block",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DeduplicationKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name_id", models.CharField(max_length=255)),
                (
                    "block",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deduplication_keys",
                        to="profiles.block",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("service", models.CharField(max_length=255)),
                ("type", models.CharField(max_length=10)),
                ("time", models.DateTimeField()),
                (
                    "time_source",
                    models.CharField(
                        choices=[
                            ("assigned", "when it was assigned"),
                            ("profile", "as the profile says"),
                            ("arrival", "arrival minus duration"),
                        ],
                        max_length=8,
                    ),
                ),
                ("duration_ns", models.BigIntegerField()),
                ("labels", models.JSONField(default=dict)),
                ("name_id", models.CharField(max_length=255)),
                ("body_hash", models.BinaryField(max_length=16)),
                ("samples", models.PositiveIntegerField()),
                ("weight", models.BigIntegerField()),
                ("totals", models.JSONField()),
                ("tree", models.BinaryField()),
                ("stored_at", models.DateTimeField(auto_now_add=True)),
                ("quarantined", models.BooleanField(db_default=False, default=False)),
                (
                    "agent",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to="projects.agent"
                    ),
                ),
                (
                    "deployment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="projects.deployment"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="projects.project"
                    ),
                ),
            ],
        ),
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
                        choices=[("selection", "Selection"), ("file", "File")],
                        max_length=9,
                        verbose_name="kind",
                    ),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("service", models.CharField(blank=True, max_length=255, verbose_name="service")),
                ("type", models.CharField(max_length=10, verbose_name="profile type")),
                ("start", models.DateTimeField(verbose_name="start")),
                ("end", models.DateTimeField(verbose_name="end")),
                ("query", models.TextField(blank=True, verbose_name="parameters")),
                ("metrics", models.JSONField()),
                ("profiles", models.PositiveIntegerField(verbose_name="profiles")),
                ("duration_ns", models.BigIntegerField()),
                (
                    "left_out",
                    models.PositiveIntegerField(default=0, verbose_name="profiles left out"),
                ),
                ("warnings", models.JSONField(default=list)),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
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
                        verbose_name="created by",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "snapshot",
                "verbose_name_plural": "snapshots",
            },
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(
                fields=["project", "service", "type", "resolution", "start"], name="block_by_start"
            ),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(fields=["project", "resolution", "start"], name="block_of_project"),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(fields=["project", "resolution", "last"], name="block_by_last"),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(
                condition=models.Q(("is_level0", True)),
                fields=["day_block", "start"],
                name="block_part",
            ),
        ),
        migrations.AddIndex(
            model_name="block",
            index=models.Index(
                condition=models.Q(("quarantined", True)), fields=["id"], name="quarantined_blocks"
            ),
        ),
        migrations.AddIndex(
            model_name="deduplicationkey",
            index=models.Index(fields=["project", "name_id"], name="deduplication_key_by_name"),
        ),
        migrations.AddIndex(
            model_name="profile",
            index=models.Index(
                fields=["project", "service", "type", "time"], name="profile_by_time"
            ),
        ),
        migrations.AddIndex(
            model_name="profile",
            index=models.Index(fields=["deployment", "type", "time"], name="profile_by_deployment"),
        ),
        migrations.AddIndex(
            model_name="profile",
            index=models.Index(
                condition=models.Q(("quarantined", True)),
                fields=["id"],
                name="quarantined_profiles",
            ),
        ),
        migrations.AddConstraint(
            model_name="profile",
            constraint=models.UniqueConstraint(
                fields=("project", "name_id"), name="profile_name_once"
            ),
        ),
        migrations.AddIndex(
            model_name="resultsnapshot",
            index=models.Index(fields=["project", "created"], name="snapshot_by_creation"),
        ),
    ]
