"""Let audit entries outlive their project, and require a retention of at least a day."""

import django.core.validators
import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def add_subjects(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    projects = apps.get_model("projects", "Project").objects.filter(pk=OuterRef("project"))
    entries = apps.get_model("projects", "AuditEntry").objects
    entries.filter(subject="", project__isnull=False).update(
        subject=Subquery(projects.values("project_id"))
    )


class Migration(migrations.Migration):
    dependencies = [("projects", "0018_annotations")]

    operations = [
        migrations.AddField(
            model_name="auditentry",
            name="subject",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=255, verbose_name="subject"
            ),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="project",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="audit",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.RunPython(add_subjects, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="quota",
            name="parked_handshakes",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="waiting agents"),
        ),
        migrations.AlterField(
            model_name="quota",
            name="retention_days",
            field=models.PositiveIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="retention in days",
            ),
        ),
    ]
