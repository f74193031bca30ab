"""Plans and quotas of projects, and their usage and rejected requests by day."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project


class LimitFields(models.Model):
    """Limits as nullable columns; null: as the next more general row says."""

    profiles_per_minute = models.PositiveIntegerField(
        _("profiles per minute"), null=True, blank=True
    )
    profiles_per_day = models.PositiveIntegerField(_("profiles per day"), null=True, blank=True)
    new_deployments_per_day = models.PositiveIntegerField(
        _("new deployments per day"), null=True, blank=True
    )
    stored_bytes = models.PositiveBigIntegerField(_("stored bytes"), null=True, blank=True)
    bytes_per_profile = models.PositiveBigIntegerField(
        _("bytes per profile"), null=True, blank=True
    )
    parked_handshakes = models.PositiveIntegerField(_("waiting agents"), null=True, blank=True)
    # At least 1: 0 would delete all profiles but those of the last hour.
    retention_days = models.PositiveIntegerField(
        _("retention in days"), null=True, blank=True, validators=[MinValueValidator(1)]
    )

    class Meta:
        abstract = True


class Plan(LimitFields):
    """Named set of limits for projects; a project's own quota overrides it."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    description = models.CharField(_("description"), max_length=300, blank=True, default="")

    class Meta:
        verbose_name = _("plan")
        verbose_name_plural = _("plans")

    def __str__(self) -> str:
        return self.name


class Quota(LimitFields):
    """Limits of one project, or of all projects (project null).

    An empty field means that of the project's plan, or else the default.
    """

    project = models.OneToOneField(
        Project,
        on_delete=models.CASCADE,
        related_name="quota",
        null=True,
        blank=True,
        verbose_name=_("project"),
    )

    class Meta:
        verbose_name = _("quota")
        verbose_name_plural = _("quotas")
        constraints = [
            # NULLs are distinct in a unique column: without this there could be several rows of
            # defaults.
            models.UniqueConstraint(
                Coalesce("project", 0),
                name="one_row_of_defaults",
                violation_error_message=_("A quota for this already exists. Edit that one."),
            )
        ]

    def __str__(self) -> str:
        return str(self.project) if self.project else str(_("Defaults"))


class DayUsage(models.Model):
    """Counters of one project and UTC day; the transaction that stores a profile counts it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="usage")
    day = models.DateField()
    profiles = models.PositiveBigIntegerField(default=0)
    stored_bytes = models.PositiveBigIntegerField(default=0)
    new_deployments = models.PositiveIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "day"], name="one_row_a_day")]

    def __str__(self) -> str:
        return f"{self.project} {self.day}"


class DayRejections(models.Model):
    """Number of rejected requests of one project, UTC day and reason."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rejections")
    day = models.DateField()
    reason = models.CharField(max_length=40)  # usage.rejections.RejectionReason
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = _("rejections of a day")
        verbose_name_plural = _("rejections by day")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "day", "reason"], name="one_row_a_day_and_reason"
            )
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.day} {self.reason}"
