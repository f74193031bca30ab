"""Projects, which are the tenants, and their members."""

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

# Cloud Profiler's syntax of project ids, so that its agents accept ours.
PROJECT_ID = r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$"


class Project(models.Model):
    project_id = models.CharField(
        _("project id"), max_length=30, unique=True, validators=[RegexValidator(PROJECT_ID)]
    )
    name = models.CharField(_("name"), max_length=100)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    profiles_per_minute = models.FloatField(
        _("profiles a minute"),
        default=1.0,
        validators=[MinValueValidator(0.0)],
        help_text=_("On average, for each deployment and profile type; 0 stops capturing."),
    )
    # Template of links to the source code: https://host/repository/blob/{version}/{file}#L{line}
    source_url = models.CharField(_("source"), max_length=500, blank=True, default="")
    source_root = models.CharField(
        _("folder of the code"), max_length=500, blank=True, default=""
    )  # path prefix of the running programs' files, to strip for a path in the repository

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Admin")
    MEMBER = "member", _("Member")
    VIEWER = "viewer", _("Viewer")


class Member(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_each")
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"
