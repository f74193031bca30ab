"""Add the editor link template of a user."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0015_project_embed_generation"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="editor_url",
            field=models.CharField(
                blank=True, default="", max_length=500, verbose_name="editor link template"
            ),
        ),
    ]
