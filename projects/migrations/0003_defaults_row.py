"""Add the row of default quotas for the admin; empty fields mean the built-in limits."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_defaults(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("projects", "Quota").objects.get_or_create(project=None)


class Migration(migrations.Migration):
    dependencies = [("projects", "0002_quota_defaults_and_profiled")]

    operations = [migrations.RunPython(add_defaults, migrations.RunPython.noop)]
