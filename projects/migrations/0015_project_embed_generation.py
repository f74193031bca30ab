from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0014_key_file")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="embed_generation",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
    ]
