"""Audit log without constraints: kind, name and address of the actor, target, more indexes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import OuterRef, Subquery


def fill(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Fill the new fields of entries that exist, with the present names."""
    entries = apps.get_model("projects", "AuditEntry")._base_manager.all()
    accounts = apps.get_model("projects", "User")._base_manager.filter(pk=OuterRef("actor"))
    projects = apps.get_model("projects", "Project")._base_manager.filter(pk=OuterRef("project"))
    keys = entries.filter(actor=None).exclude(actor_key__in=["", "operator"])
    keys.update(actor_kind="key")
    people = entries.exclude(actor=None)
    people.update(actor_kind="person", actor_name=Subquery(accounts.values("email")[:1]))
    of_projects = entries.exclude(project=None)
    of_projects.update(project_name=Subquery(projects.values("name")[:1]))


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0002_invitation"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="auditentry",
            name="audit_by_time",
        ),
        migrations.AddField(
            model_name="auditentry",
            name="actor_kind",
            field=models.CharField(
                choices=[
                    ("person", "Person"),
                    ("key", "API key"),
                    ("operator", "Operator"),
                    ("system", "System"),
                    ("visitor", "Not signed in"),
                ],
                db_default="operator",
                default="operator",
                max_length=10,
                verbose_name="kind of actor",
            ),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="actor_name",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                max_length=254,
                verbose_name="name of the actor",
            ),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="address",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=64, verbose_name="address"
            ),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="project_name",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=100, verbose_name="project name"
            ),
        ),
        migrations.AddField(
            model_name="auditentry",
            name="target",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=255, verbose_name="target"
            ),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="actor",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="project",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="audit",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["project", "at", "id"], name="audit_by_time"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["project", "actor", "at", "id"], name="audit_by_actor"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["project", "action", "at", "id"], name="audit_by_action"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["actor", "at"], name="audit_by_person"),
        ),
    ]
