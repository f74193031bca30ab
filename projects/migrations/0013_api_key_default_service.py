"""Service of imported profiles that name none, for each API key."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0012_readable_names")]
    operations = [
        migrations.AddField(
            "apikey",
            "default_service",
            models.CharField(
                blank=True,
                default="",
                max_length=255,
                validators=[
                    django.core.validators.RegexValidator(
                        r"\A[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?\Z",
                        "Enter a service name: lower-case letters, digits, hyphens, underscores and dots, with a letter or digit first and last.",
                    )
                ],
                verbose_name="default service",
            ),
        ),
    ]
