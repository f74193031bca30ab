"""Rename fields; the columns keep their names, so that no SQL runs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0007_agent_warnings")]
    operations = [
        migrations.AlterField(
            "agentreport",
            "refusal",
            models.CharField(blank=True, db_column="refusal", max_length=255),
        ),
        migrations.RenameField("agentreport", "refusal", "rejection"),
        migrations.AlterField(
            "agentreport", "refused_at", models.DateTimeField(db_column="refused_at", null=True)
        ),
        migrations.RenameField("agentreport", "refused_at", "rejected_at"),
        migrations.AlterField(
            "agentreport",
            "refused",
            models.PositiveIntegerField(db_column="refused", default=0),
        ),
        migrations.RenameField("agentreport", "refused", "rejected"),
        migrations.AlterField(
            "dayusage",
            "refused",
            models.PositiveBigIntegerField(db_column="refused", default=0),
        ),
        migrations.RenameField("dayusage", "refused", "rejected"),
    ]
