"""Rename columns and a table by the glossary."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0020_agent_delivery_and_first_profiles"),
    ]

    operations = [
        migrations.AlterField(
            model_name="agentreport",
            name="rejected",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name="agentreport",
            name="rejected_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="agentreport",
            name="rejection",
            field=models.CharField(blank=True, max_length=255),
        ),
        migrations.AlterField(
            model_name="dayusage",
            name="rejected",
            field=models.PositiveBigIntegerField(default=0),
        ),
    ]
