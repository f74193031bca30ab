from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("profiles", "0007_deduplication_key_index")]

    operations = [
        migrations.AddIndex(
            model_name="block",
            index=models.Index(
                condition=models.Q(("quarantined", True)), fields=["id"], name="quarantined_blocks"
            ),
        ),
        migrations.AddIndex(
            model_name="profile",
            index=models.Index(
                condition=models.Q(("quarantined", True)),
                fields=["id"],
                name="quarantined_profiles",
            ),
        ),
    ]
