"""Findings of a project, their history, and the hourly sums that they are made of."""

import secrets

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models import Project

MAX_NOTE = 500  # characters
POINT_HOURS = 3
POINT_DAYS = 14


class Direction(models.TextChoices):
    REGRESSION = "regression", _("Regression")
    IMPROVEMENT = "improvement", _("Improvement")


class FindingState(models.TextChoices):
    NEW = "new", _("New")
    ACKNOWLEDGED = "acknowledged", _("Acknowledged")
    RESOLVED = "resolved", _("Resolved")
    MUTED = "muted", _("Muted")


OPEN_STATES = (FindingState.NEW, FindingState.ACKNOWLEDGED)


def make_finding_id() -> str:
    return secrets.token_hex(6)


class Finding(models.Model):
    """Lasting change of the cost of one function of a service.

    Values are those of one profile, in the unit of the type's default metric.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="findings")
    finding_id = models.CharField(max_length=12, unique=True, default=make_finding_id)
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)  # projects.profile_types.ProfileType
    unit = models.CharField(max_length=50)
    function = models.TextField()
    file = models.TextField(blank=True, default="")
    is_self = models.BooleanField()  # the self value changed, not only the total
    direction = models.CharField(max_length=11, choices=Direction)
    state = models.CharField(max_length=12, choices=FindingState, default=FindingState.NEW)
    change_time = models.DateTimeField()  # first hour after the change
    found = models.DateTimeField()
    ended = models.DateTimeField(null=True)  # resolved or muted
    change = models.FloatField()  # when it was found; negative: an improvement
    low = models.FloatField()  # 95 % interval of `change`
    high = models.FloatField()
    before = models.FloatField()
    after = models.FloatField()
    profile_total = models.FloatField()  # mean of the service before the change
    duration_ns = models.BigIntegerField()  # mean of its profiles
    p = models.FloatField()
    rank = models.FloatField()  # 0 to 1: urgency
    profiles_before = models.PositiveBigIntegerField()
    profiles_after = models.PositiveBigIntegerField()
    version_before = models.CharField(max_length=512, blank=True, default="")
    version = models.CharField(max_length=512, blank=True, default="")  # that it came with
    merged = models.JSONField(default=list)  # names of other functions with this cause
    checks = models.JSONField(default=list)  # [{stage, passed, evidence, functions}, …]
    # Values of the last profiles, per profile, of POINT_HOURS each until `points_end`; null without
    # profiles. They stay as they are once the finding is resolved or muted.
    points = models.JSONField(default=list)
    points_end = models.DateTimeField()
    # The change as of the latest analysis; None before the first one after it was found.
    latest_change = models.FloatField(null=True)
    escalated = models.DateTimeField(null=True)  # became three quarters larger
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        indexes = [
            models.Index(fields=["project", "state", "direction"], name="finding_by_state"),
            models.Index(fields=["project", "service", "type"], name="finding_by_series"),
        ]

    def __str__(self) -> str:
        return f"{self.function} of {self.service}"

    @property
    def relative(self) -> float | None:
        """Return the change as a part of the value before; None for a new function."""
        return self.change / self.before if self.before > 0 else None


class FindingEventKind(models.TextChoices):
    FOUND = "found", _("Found")
    ACKNOWLEDGED = "acknowledged", _("Acknowledged")
    RESOLVED = "resolved", _("Resolved")
    REOPENED = "reopened", _("Reopened")
    MUTED = "muted", _("Muted")
    ESCALATED = "escalated", _("Escalated")
    ASSIGNED = "assigned", _("Assigned")


class FindingEvent(models.Model):
    """Step in the history of a finding; `actor` is null for the analysis."""

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="events")
    time = models.DateTimeField()
    kind = models.CharField(max_length=12, choices=FindingEventKind)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    note = models.CharField(max_length=MAX_NOTE, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.kind} {self.time:%F %T}"


class FindingVote(models.Model):
    """Feedback of a person: is the finding a real change?"""

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="votes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    is_true = models.BooleanField()
    time = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["finding", "user"], name="finding_vote_once")
        ]

    def __str__(self) -> str:
        return "true" if self.is_true else "false"


class FindingMute(models.Model):
    """Function, or whole service, whose changes are not reported.

    An empty function stands for all of the service. With a version, the mute ends when a change
    comes with another version.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="finding_mutes")
    service = models.CharField(max_length=255)
    function = models.TextField(blank=True, default="")
    version = models.CharField(max_length=512, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        indexes = [models.Index(fields=["project", "service"], name="finding_mute_by_service")]

    def __str__(self) -> str:
        return self.function or self.service


class AnalysisStatus(models.TextChoices):
    ANALYZED = "analyzed", _("Analyzed")
    LITTLE_HISTORY = "little_history", _("Too little history")
    FAILED = "failed", _("Failed")


# A smallest detectable change above it is worth a warning.
_LARGE_CHANGE = 0.2


class ServiceDetection(models.Model):
    """Latest analysis of a service and profile type."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="service_detections"
    )
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)
    time = models.DateTimeField()  # end of the analyzed profiles
    status = models.CharField(max_length=16, choices=AnalysisStatus)
    problem = models.CharField(max_length=500, blank=True, default="")  # of FAILED
    first_hour = models.DateTimeField(null=True)  # with profiles
    functions = models.PositiveIntegerField(default=0)
    profiles_a_day = models.FloatField(default=0)
    # Smallest relative change that is found in 80 % of cases, of a function of 1 % of the service.
    detectable = models.FloatField(null=True)
    ruled_out = models.JSONField(default=dict)  # number of candidates by the check that failed

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "service", "type"], name="service_detection_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type}"

    @property
    def misses_changes(self) -> bool:
        """Return True if there are too few samples to see any but large changes."""
        return (self.detectable or 0) > _LARGE_CHANGE


class HourlySums(models.Model):
    """Sums by function and hour over half a day of a service and type; see findings/hourly_sums."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="hourly_sums")
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)
    start = models.DateTimeField()  # midnight or noon of UTC
    content = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "service", "type", "start"], name="hourly_sums_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type} {self.start:%F %H}"


class ProjectAnalysis(models.Model):
    """Latest complete analysis of a project."""

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, related_name="analysis", primary_key=True
    )
    end = models.DateTimeField()  # of the analyzed profiles
    finished = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.end:%F %H}"
