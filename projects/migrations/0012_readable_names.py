"""Rename fields for people, in the admin; columns and constraints stay, so that no SQL runs."""

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0011_user_max_projects"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="agent",
            options={"verbose_name": "agent", "verbose_name_plural": "agents"},
        ),
        migrations.AlterModelOptions(
            name="deployment",
            options={"verbose_name": "deployment", "verbose_name_plural": "deployments"},
        ),
        migrations.AlterModelOptions(
            name="member",
            options={"verbose_name": "member", "verbose_name_plural": "members"},
        ),
        migrations.AlterModelOptions(
            name="project",
            options={"verbose_name": "project", "verbose_name_plural": "projects"},
        ),
        migrations.AlterModelOptions(
            name="quota",
            options={"verbose_name": "quota", "verbose_name_plural": "quotas"},
        ),
        migrations.AlterField(
            model_name="agent",
            name="deployment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="agents",
                to="projects.deployment",
                verbose_name="deployment",
            ),
        ),
        migrations.AlterField(
            model_name="agent",
            name="first_seen",
            field=models.DateTimeField(verbose_name="first seen"),
        ),
        migrations.AlterField(
            model_name="agent",
            name="hostname",
            field=models.CharField(blank=True, max_length=255, verbose_name="host name"),
        ),
        migrations.AlterField(
            model_name="agent",
            name="identity",
            field=models.CharField(max_length=64, verbose_name="identity"),
        ),
        migrations.AlterField(
            model_name="agent",
            name="last_seen",
            field=models.DateTimeField(verbose_name="last seen"),
        ),
        migrations.AlterField(
            model_name="agent",
            name="types",
            field=models.JSONField(default=list, verbose_name="profile types"),
        ),
        migrations.AlterField(
            model_name="agent",
            name="user_agent",
            field=models.CharField(blank=True, max_length=255, verbose_name="user agent"),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="created",
            field=models.DateTimeField(auto_now_add=True, verbose_name="created"),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="created_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to=settings.AUTH_USER_MODEL,
                verbose_name="created by",
            ),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="key_id",
            field=models.CharField(max_length=16, unique=True, verbose_name="key ID"),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="last_used",
            field=models.DateTimeField(blank=True, null=True, verbose_name="last used"),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="may_read",
            field=models.BooleanField(default=False, verbose_name="can read profiles"),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="may_write",
            field=models.BooleanField(default=True, verbose_name="can send profiles"),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="api_keys",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="revoked",
            field=models.DateTimeField(blank=True, null=True, verbose_name="revoked"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(max_length=50, verbose_name="action"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="actor",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="actor_key",
            field=models.CharField(blank=True, max_length=32, verbose_name="API key"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="at",
            field=models.DateTimeField(auto_now_add=True, verbose_name="time"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="detail",
            field=models.JSONField(default=dict, verbose_name="details"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="audit",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="first_seen",
            field=models.DateTimeField(verbose_name="first seen"),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="language",
            field=models.CharField(blank=True, max_length=512, verbose_name="Language"),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="last_seen",
            field=models.DateTimeField(verbose_name="last seen"),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="profiled",
            field=models.JSONField(blank=True, default=list, verbose_name="profiled types"),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deployments",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="service",
            field=models.CharField(max_length=255, verbose_name="service"),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="version",
            field=models.CharField(blank=True, max_length=512, verbose_name="version"),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="zone",
            field=models.CharField(blank=True, max_length=512, verbose_name="zone"),
        ),
        migrations.AlterField(
            model_name="member",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="members",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.AlterField(
            model_name="member",
            name="role",
            field=models.CharField(
                choices=[
                    ("owner", "Owner"),
                    ("admin", "Admin"),
                    ("member", "Member"),
                    ("viewer", "Viewer"),
                ],
                default="member",
                max_length=10,
                verbose_name="role",
            ),
        ),
        migrations.AlterField(
            model_name="member",
            name="since",
            field=models.DateTimeField(auto_now_add=True, verbose_name="member since"),
        ),
        migrations.AlterField(
            model_name="member",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="memberships",
                to=settings.AUTH_USER_MODEL,
                verbose_name="person",
            ),
        ),
        migrations.AlterField(
            model_name="project",
            name="created",
            field=models.DateTimeField(auto_now_add=True, verbose_name="created"),
        ),
        migrations.AlterField(
            model_name="project",
            name="created_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to=settings.AUTH_USER_MODEL,
                verbose_name="created by",
            ),
        ),
        migrations.AlterField(
            model_name="project",
            name="profiles_per_minute",
            field=models.FloatField(
                default=1.0,
                help_text="Average profiles per minute of each deployment and profile type; 0 is off.",
                validators=[django.core.validators.MinValueValidator(0.0)],
                verbose_name="capture rate",
            ),
        ),
        migrations.AlterField(
            model_name="project",
            name="project_id",
            field=models.CharField(
                max_length=30,
                unique=True,
                validators=[
                    django.core.validators.RegexValidator("^[a-z][a-z0-9-]{4,28}[a-z0-9]$")
                ],
                verbose_name="project ID",
            ),
        ),
        migrations.AlterField(
            model_name="project",
            name="source_root",
            field=models.CharField(
                blank=True, default="", max_length=500, verbose_name="path prefix to strip"
            ),
        ),
        migrations.AlterField(
            model_name="project",
            name="source_url",
            field=models.CharField(
                blank=True, default="", max_length=500, verbose_name="source link template"
            ),
        ),
        migrations.AlterField(
            model_name="quota",
            name="new_deployments_per_day",
            field=models.PositiveIntegerField(
                blank=True, null=True, verbose_name="new deployments per day"
            ),
        ),
        migrations.AlterField(
            model_name="quota",
            name="profiles_per_day",
            field=models.PositiveIntegerField(
                blank=True, null=True, verbose_name="profiles per day"
            ),
        ),
        migrations.AlterField(
            model_name="quota",
            name="profiles_per_minute",
            field=models.PositiveIntegerField(
                blank=True, null=True, verbose_name="profiles per minute"
            ),
        ),
        migrations.AlterField(
            model_name="quota",
            name="project",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="quota",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.AlterField(
            model_name="quota",
            name="retention_days",
            field=models.PositiveIntegerField(
                blank=True, null=True, verbose_name="retention in days"
            ),
        ),
        migrations.AlterConstraint(
            model_name="quota",
            name="one_row_of_defaults",
            constraint=models.UniqueConstraint(
                django.db.models.functions.comparison.Coalesce("project", 0),
                name="one_row_of_defaults",
                violation_error_message="A quota for this already exists. Edit that one.",
            ),
        ),
    ]
