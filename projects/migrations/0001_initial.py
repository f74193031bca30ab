"""Tables as version 0.3.0 left them."""

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.utils.timezone
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_default_quotas(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add the row of default quotas for the admin; empty fields mean the built-in limits."""
    apps.get_model("projects", "Quota").objects.get_or_create(project=None)


class Migration(migrations.Migration):
    initial = True
    # A database of version 0.3 has all of these applied (profiler_site/process/migration.py).
    replaces = [
        ("projects", "0002_quota_defaults_and_profiled"),
        ("projects", "0003_defaults_row"),
        ("projects", "0004_names_for_people"),
        ("projects", "0005_agent_reports"),
        ("projects", "0006_source"),
        ("projects", "0007_agent_warnings"),
        ("projects", "0008_plain_names"),
        ("projects", "0009_day_rejections"),
        ("projects", "0010_quota_of_parked_handshakes"),
        ("projects", "0011_user_max_projects"),
        ("projects", "0012_readable_names"),
        ("projects", "0013_api_key_default_service"),
        ("projects", "0014_key_file"),
        ("projects", "0015_project_embed_generation"),
        ("projects", "0016_user_editor_url"),
        ("projects", "0017_saved_views"),
        ("projects", "0018_annotations"),
        ("projects", "0019_audit_subjects_and_retention"),
        ("projects", "0020_agent_delivery_and_first_profiles"),
        ("projects", "0021_column_names"),
    ]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Agent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("identity", models.CharField(max_length=64, verbose_name="identity")),
                (
                    "hostname",
                    models.CharField(blank=True, max_length=255, verbose_name="host name"),
                ),
                (
                    "user_agent",
                    models.CharField(blank=True, max_length=255, verbose_name="user agent"),
                ),
                ("types", models.JSONField(default=list, verbose_name="profile types")),
                (
                    "delivery",
                    models.CharField(
                        choices=[
                            ("handshake", "Waits for capture requests"),
                            ("push", "Sends on its own"),
                            ("file", "Imports files"),
                        ],
                        db_default="handshake",
                        default="handshake",
                        max_length=9,
                        verbose_name="delivery",
                    ),
                ),
                ("first_seen", models.DateTimeField(verbose_name="first seen")),
                ("last_seen", models.DateTimeField(verbose_name="last seen")),
                (
                    "reporting_since",
                    models.DateTimeField(null=True, verbose_name="reporting since"),
                ),
            ],
            options={
                "verbose_name": "agent",
                "verbose_name_plural": "agents",
            },
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("service", models.CharField(max_length=255, verbose_name="service")),
                ("zone", models.CharField(blank=True, max_length=512, verbose_name="zone")),
                ("version", models.CharField(blank=True, max_length=512, verbose_name="version")),
                ("language", models.CharField(blank=True, max_length=512, verbose_name="Language")),
                ("first_seen", models.DateTimeField(verbose_name="first seen")),
                ("last_seen", models.DateTimeField(verbose_name="last seen")),
                ("first_profile", models.DateTimeField(null=True, verbose_name="first profile")),
                (
                    "profiled",
                    models.JSONField(blank=True, default=list, verbose_name="profiled types"),
                ),
            ],
            options={
                "verbose_name": "deployment",
                "verbose_name_plural": "deployments",
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                (
                    "email",
                    models.EmailField(max_length=254, unique=True, verbose_name="e-mail address"),
                ),
                (
                    "max_projects",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Projects that this account may own. Empty means FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT.",
                        null=True,
                        verbose_name="maximum number of projects",
                    ),
                ),
                (
                    "editor_url",
                    models.CharField(
                        blank=True, default="", max_length=500, verbose_name="editor link template"
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="AgentReport",
            fields=[
                (
                    "agent",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="report",
                        serialize=False,
                        to="projects.agent",
                    ),
                ),
                ("last_profile", models.DateTimeField(null=True)),
                ("last_type", models.CharField(blank=True, max_length=10)),
                ("sampler", models.CharField(blank=True, max_length=32)),
                ("memory_bytes", models.BigIntegerField(null=True)),
                ("rejection", models.CharField(blank=True, max_length=255)),
                ("rejected_at", models.DateTimeField(null=True)),
                (
                    "warning",
                    models.CharField(blank=True, db_default="", default="", max_length=255),
                ),
                ("warned_at", models.DateTimeField(null=True)),
                ("hours", models.JSONField(default=dict)),
                ("cpu_share", models.FloatField(null=True)),
                ("dropped", models.BigIntegerField(null=True)),
                ("samples", models.BigIntegerField(default=0)),
                ("rejected", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("key_id", models.CharField(max_length=16, unique=True, verbose_name="key ID")),
                ("secret_hash", models.CharField(max_length=64)),
                ("may_write", models.BooleanField(default=True, verbose_name="can send profiles")),
                ("may_read", models.BooleanField(default=False, verbose_name="can read profiles")),
                (
                    "default_service",
                    models.CharField(
                        blank=True,
                        default="",
                        max_length=255,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?\\Z",
                                "Enter a service name: lower-case letters, digits, hyphens, underscores and dots, with a letter or digit first and last.",
                            )
                        ],
                        verbose_name="default service",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "last_used",
                    models.DateTimeField(blank=True, null=True, verbose_name="last used"),
                ),
                ("revoked", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
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
            ],
            options={
                "verbose_name": "API key",
                "verbose_name_plural": "API keys",
            },
        ),
        migrations.AddField(
            model_name="agent",
            name="deployment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="agents",
                to="projects.deployment",
                verbose_name="deployment",
            ),
        ),
        migrations.CreateModel(
            name="KeyFile",
            fields=[
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
            options={
                "verbose_name": "key file",
                "verbose_name_plural": "key files",
            },
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "project_id",
                    models.CharField(
                        max_length=30,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[a-z][a-z0-9-]{4,28}[a-z0-9]$")
                        ],
                        verbose_name="project ID",
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "profiles_per_minute",
                    models.FloatField(
                        default=1.0,
                        help_text="Average profiles per minute of each deployment and profile type; 0 is off.",
                        validators=[django.core.validators.MinValueValidator(0.0)],
                        verbose_name="capture rate",
                    ),
                ),
                (
                    "source_url",
                    models.CharField(
                        blank=True, default="", max_length=500, verbose_name="source link template"
                    ),
                ),
                (
                    "source_root",
                    models.CharField(
                        blank=True, default="", max_length=500, verbose_name="path prefix to strip"
                    ),
                ),
                (
                    "embed_generation",
                    models.PositiveIntegerField(db_default=0, default=0, editable=False),
                ),
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
            ],
            options={
                "verbose_name": "project",
                "verbose_name_plural": "projects",
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
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
                ("since", models.DateTimeField(auto_now_add=True, verbose_name="member since")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "member",
                "verbose_name_plural": "members",
            },
        ),
        migrations.AddField(
            model_name="deployment",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deployments",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.CreateModel(
            name="DayUsage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("profiles", models.PositiveBigIntegerField(default=0)),
                ("stored_bytes", models.PositiveBigIntegerField(default=0)),
                ("new_deployments", models.PositiveIntegerField(default=0)),
                ("rejected", models.PositiveBigIntegerField(default=0)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="usage",
                        to="projects.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DayRejections",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("reason", models.CharField(max_length=40)),
                ("count", models.PositiveBigIntegerField(default=0)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rejections",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "verbose_name": "rejections of a day",
                "verbose_name_plural": "rejections by day",
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "subject",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        max_length=255,
                        verbose_name="subject",
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="time")),
                ("actor_key", models.CharField(blank=True, max_length=32, verbose_name="API key")),
                ("action", models.CharField(max_length=50, verbose_name="action")),
                ("detail", models.JSONField(default=dict, verbose_name="details")),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="person",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="audit",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
            },
        ),
        migrations.AddField(
            model_name="apikey",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="api_keys",
                to="projects.project",
                verbose_name="project",
            ),
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(blank=True, null=True, verbose_name="time")),
                (
                    "service",
                    models.CharField(
                        blank=True, default="", max_length=255, verbose_name="service"
                    ),
                ),
                (
                    "version",
                    models.CharField(
                        blank=True, default="", max_length=512, verbose_name="version"
                    ),
                ),
                (
                    "function",
                    models.TextField(
                        blank=True, default="", max_length=10000, verbose_name="function"
                    ),
                ),
                ("text", models.CharField(max_length=500, verbose_name="text")),
                (
                    "link",
                    models.CharField(blank=True, default="", max_length=500, verbose_name="link"),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "created_key",
                    models.CharField(blank=True, default="", max_length=32, verbose_name="API key"),
                ),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="annotations",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "annotation",
                "verbose_name_plural": "annotations",
            },
        ),
        migrations.CreateModel(
            name="Quota",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "profiles_per_minute",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="profiles per minute"
                    ),
                ),
                (
                    "profiles_per_day",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="profiles per day"
                    ),
                ),
                (
                    "new_deployments_per_day",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="new deployments per day"
                    ),
                ),
                (
                    "stored_bytes",
                    models.PositiveBigIntegerField(
                        blank=True, null=True, verbose_name="stored bytes"
                    ),
                ),
                (
                    "bytes_per_profile",
                    models.PositiveBigIntegerField(
                        blank=True, null=True, verbose_name="bytes per profile"
                    ),
                ),
                (
                    "parked_handshakes",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="waiting agents"
                    ),
                ),
                (
                    "retention_days",
                    models.PositiveIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="retention in days",
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quota",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "quota",
                "verbose_name_plural": "quotas",
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                (
                    "page",
                    models.CharField(
                        choices=[
                            ("services", "Services"),
                            ("flame", "Flame graph"),
                            ("compare", "Compare"),
                            ("history", "History"),
                            ("breakdown", "Breakdown"),
                            ("profiles", "Profiles"),
                            ("agents", "Agents"),
                        ],
                        max_length=10,
                        verbose_name="page",
                    ),
                ),
                ("query", models.TextField(blank=True, verbose_name="parameters")),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="projects.project",
                        verbose_name="project",
                    ),
                ),
            ],
            options={
                "verbose_name": "saved view",
                "verbose_name_plural": "saved views",
            },
        ),
        migrations.AddIndex(
            model_name="agent",
            index=models.Index(fields=["last_seen"], name="agent_last_seen"),
        ),
        migrations.AddConstraint(
            model_name="agent",
            constraint=models.UniqueConstraint(
                fields=("deployment", "identity"), name="agent_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(
                fields=("project", "user"), name="one_membership_each"
            ),
        ),
        migrations.AddConstraint(
            model_name="deployment",
            constraint=models.UniqueConstraint(
                fields=("project", "service", "zone", "version"), name="deployment_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="dayusage",
            constraint=models.UniqueConstraint(fields=("project", "day"), name="one_row_a_day"),
        ),
        migrations.AddConstraint(
            model_name="dayrejections",
            constraint=models.UniqueConstraint(
                fields=("project", "day", "reason"), name="one_row_a_day_and_reason"
            ),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["project", "at"], name="audit_by_time"),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(fields=["project", "at"], name="annotation_by_time"),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("at__isnull", False), ("function", "")),
                    models.Q(
                        ("at__isnull", True),
                        models.Q(("function", ""), _negated=True),
                        models.Q(("service", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="annotation_of_a_time_or_a_function",
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.UniqueConstraint(
                django.db.models.functions.comparison.Coalesce("project", 0),
                name="one_row_of_defaults",
                violation_error_message="A quota for this already exists. Edit that one.",
            ),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.UniqueConstraint(
                fields=("project", "name"), name="saved_view_name_once"
            ),
        ),
        migrations.RunPython(add_default_quotas, migrations.RunPython.noop),
    ]
