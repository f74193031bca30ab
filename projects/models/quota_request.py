"""Requests of projects for higher limits, which operators decide."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import MAX_REASON, Project


class QuotaRequestState(models.TextChoices):
    OPEN = "open", _("Waiting for the operator")
    GRANTED = "granted", _("Granted")
    DECLINED = "declined", _("Declined")


class QuotaRequest(models.Model):
    """Request for a value of one limit; at most one of a limit is open."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="quota_requests")
    limit = models.CharField(max_length=40)  # usage.limits.LimitName
    allowed = models.PositiveBigIntegerField()  # when it was requested
    amount = models.PositiveBigIntegerField()
    reason = models.CharField(max_length=MAX_REASON)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    state = models.CharField(
        max_length=10, choices=QuotaRequestState, default=QuotaRequestState.OPEN
    )
    decided = models.DateTimeField(null=True, blank=True)
    granted = models.PositiveBigIntegerField(null=True, blank=True)  # may differ from the amount
    note = models.CharField(max_length=MAX_REASON, blank=True, default="")  # of the operator

    class Meta:
        verbose_name = _("quota request")
        verbose_name_plural = _("quota requests")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "limit"],
                condition=models.Q(state="open"),
                name="one_open_request_a_limit",
            )
        ]
        indexes = [
            models.Index(
                fields=["created"],
                condition=models.Q(state="open"),
                name="open_quota_requests",
            )
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.limit}"
