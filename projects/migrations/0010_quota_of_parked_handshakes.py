"""Add the quota of parked handshakes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0009_day_rejections")]
    operations = [
        migrations.AddField(
            "quota",
            "parked_handshakes",
            models.PositiveIntegerField(blank=True, null=True, verbose_name="parked handshakes"),
        ),
    ]
