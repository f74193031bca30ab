"""Export jobs and the parts of their archives."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("profiles", "0002_deletion_jobs"),
        ("projects", "0008_notices"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ExportJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting to start"),
                            ("running", "Exporting"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("canceled", "Canceled"),
                            ("expired", "Expired"),
                        ],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("requested", models.DateTimeField(verbose_name="requested")),
                ("finished", models.DateTimeField(null=True, verbose_name="finished")),
                ("expires", models.DateTimeField(null=True, verbose_name="expires")),
                ("cursor", models.JSONField(default=dict)),
                ("files", models.PositiveIntegerField(default=0)),
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
                "verbose_name": "export",
                "verbose_name_plural": "exports",
            },
        ),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("index", models.TextField(blank=True)),
                (
                    "blob",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.RESTRICT, to="profiles.blob"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="profiles.exportjob",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="exportjob",
            index=models.Index(fields=["project", "requested"], name="export_by_project"),
        ),
        migrations.AddConstraint(
            model_name="exportjob",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["pending", "running"])),
                fields=("project",),
                name="one_running_export",
            ),
        ),
        migrations.AddConstraint(
            model_name="exportpart",
            constraint=models.UniqueConstraint(fields=("job", "number"), name="export_part_once"),
        ),
    ]
