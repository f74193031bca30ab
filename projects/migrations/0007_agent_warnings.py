"""Add the last warning about an incomplete profile to agent reports."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0006_source"),
    ]

    operations = [
        migrations.AddField(
            model_name="agentreport",
            name="warned_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="agentreport",
            name="warning",
            field=models.CharField(blank=True, db_default="", default="", max_length=255),
        ),
    ]
