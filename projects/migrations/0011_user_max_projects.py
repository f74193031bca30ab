"""Limit of projects of a single account; null means the setting."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0010_quota_of_parked_handshakes")]
    operations = [
        migrations.AddField(
            "user",
            "max_projects",
            models.PositiveIntegerField(
                blank=True,
                help_text="Projects that this account may own. Empty means FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT.",
                null=True,
                verbose_name="maximum number of projects",
            ),
        ),
    ]
