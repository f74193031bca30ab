"""Names of snapshots and their fields, for the admin."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("profiles", "0005_result_snapshots"),
        ("projects", "0018_annotations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="resultsnapshot",
            options={"verbose_name": "snapshot", "verbose_name_plural": "snapshots"},
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="created",
            field=models.DateTimeField(auto_now_add=True, verbose_name="created"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to=settings.AUTH_USER_MODEL,
                verbose_name="created by",
            ),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="end",
            field=models.DateTimeField(verbose_name="end"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="kind",
            field=models.CharField(
                choices=[("selection", "Selection"), ("file", "File")],
                max_length=9,
                verbose_name="kind",
            ),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="left_out",
            field=models.PositiveIntegerField(default=0, verbose_name="profiles left out"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="profiles",
            field=models.PositiveIntegerField(verbose_name="profiles"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="query",
            field=models.TextField(blank=True, verbose_name="parameters"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="service",
            field=models.CharField(blank=True, max_length=255, verbose_name="service"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="start",
            field=models.DateTimeField(verbose_name="start"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="title",
            field=models.CharField(max_length=200, verbose_name="title"),
        ),
        migrations.AlterField(
            model_name="resultsnapshot",
            name="type",
            field=models.CharField(max_length=10, verbose_name="profile type"),
        ),
    ]
