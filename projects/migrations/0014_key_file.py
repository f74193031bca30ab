"""Key files of API keys, with their public keys."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0013_api_key_default_service")]
    operations = [
        migrations.CreateModel(
            "KeyFile",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "file_id",
                    models.CharField(max_length=40, unique=True, verbose_name="key file ID"),
                ),
                ("public_key", models.TextField(verbose_name="public key")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="created by",
                    ),
                ),
                (
                    "key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="key_files",
                        to="projects.apikey",
                        verbose_name="API key",
                    ),
                ),
            ],
            options={"verbose_name": "key file", "verbose_name_plural": "key files"},
        ),
    ]
