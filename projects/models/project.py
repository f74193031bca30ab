"""Projects, which are the tenants, and their members."""

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

# Cloud Profiler's syntax of project ids, so that its agents accept ours.
PROJECT_ID = r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$"
MAX_REASON = 300  # characters


class Project(models.Model):
    project_id = models.CharField(
        _("project ID"), max_length=30, unique=True, validators=[RegexValidator(PROJECT_ID)]
    )
    name = models.CharField(_("name"), max_length=100)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("created by"),
    )
    profiles_per_minute = models.FloatField(
        _("capture rate"),
        default=1.0,
        validators=[MinValueValidator(0.0)],
        help_text=_("Average profiles per minute of each deployment and profile type; 0 is off."),
    )
    adaptive_rate = models.BooleanField(
        _("adaptive capture rate"),
        default=False,
        db_default=False,
        help_text=_(
            "Captures services more often if changes of 5 % would not be found otherwise, within"
            " half of the quotas."
        ),
    )
    # For example https://host/repository/blob/{version}/{file}#L{line}
    source_url = models.CharField(_("source link template"), max_length=500, blank=True, default="")
    # Prefix of the running programs' file names, to strip for a path in the repository.
    source_root = models.CharField(
        _("path prefix to strip"), max_length=500, blank=True, default=""
    )
    plan = models.ForeignKey(
        "projects.Plan",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="projects",
        verbose_name=_("plan"),
        help_text=_("Empty: the default quotas."),
    )
    # Since then agents and uploads are rejected; members still read.
    suspended = models.DateTimeField(_("suspended"), null=True, blank=True, editable=False)
    suspension_reason = models.CharField(
        _("reason of the suspension"),
        max_length=MAX_REASON,
        blank=True,
        default="",
        db_default="",
        editable=False,
    )
    # Part of the URLs of embedded images: to increase it revokes them.
    embed_generation = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    # Days that profiles are kept, at most the limit of the quota; null: the limit.
    retention_days = models.PositiveIntegerField(
        _("retention in days"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # Time at which the project will be deleted. Until then it is hidden: nobody sees it, and its
    # keys are rejected.
    deletion_due = models.DateTimeField(_("deleted on"), null=True, editable=False)

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Admin")
    MEMBER = "member", _("Member")
    VIEWER = "viewer", _("Viewer")


class Member(models.Model):
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="members", verbose_name=_("project")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="memberships",
        verbose_name=_("person"),
    )
    role = models.CharField(_("role"), max_length=10, choices=Role, default=Role.MEMBER)
    since = models.DateTimeField(_("member since"), auto_now_add=True)
    # {kind of event: whether e-mails of it are sent}; null: the member has not chosen
    subscriptions = models.JSONField(null=True, editable=False)

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_each")
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"
