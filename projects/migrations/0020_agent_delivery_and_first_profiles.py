"""Tell senders of files from agents, and order versions by the time of their first profile."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FILE_IMPORT = "flamewatch-file-import"


def mark_imports(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    agents = apps.get_model("projects", "Agent").objects
    agents.filter(user_agent__startswith=FILE_IMPORT).update(delivery="file")


class Migration(migrations.Migration):
    dependencies = [("projects", "0019_audit_subjects_and_retention")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="delivery",
            field=models.CharField(
                choices=[
                    ("handshake", "Waits for capture requests"),
                    ("push", "Sends on its own"),
                    ("file", "Imports files"),
                ],
                db_default="handshake",
                default="handshake",
                max_length=9,
                verbose_name="delivery",
            ),
        ),
        migrations.AddField(
            model_name="agent",
            name="reporting_since",
            field=models.DateTimeField(null=True, verbose_name="reporting since"),
        ),
        migrations.AddField(
            model_name="deployment",
            name="first_profile",
            field=models.DateTimeField(null=True, verbose_name="first profile"),
        ),
        migrations.RunPython(mark_imports, migrations.RunPython.noop),
    ]
