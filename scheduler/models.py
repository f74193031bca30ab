"""Captures that users have requested, and needs that adaptive capture rates meet."""

from django.db import models

from projects.models import Agent, Project


class UserCapture(models.Model):
    """Capture requested by a user; the latest of each project are stored."""

    # CaptureRequest.id, or another unique id if the request was rejected
    request = models.CharField(max_length=100, unique=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="user_captures")
    deployment = models.BigIntegerField(null=True)  # Deployment.pk; None if rejected
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)  # a ProfileType
    created = models.DateTimeField()
    claimed = models.DateTimeField(null=True)  # when an agent took the request
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True)  # that took it
    name_id = models.CharField(max_length=255, blank=True)  # of the profile that it may upload
    is_uploaded = models.BooleanField(default=False)
    rejection = models.CharField(max_length=500, blank=True)  # reason, a sentence

    class Meta:
        indexes = [models.Index(fields=["project", "created"], name="user_captures_by_time")]

    def __str__(self) -> str:
        return self.request


class SampleNeed(models.Model):
    """Profiles a day that a service and type needs, as the latest analysis of findings found."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sample_needs")
    service = models.CharField(max_length=255)
    type = models.CharField(max_length=10)  # a ProfileType
    profiles_a_day = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "service", "type"], name="sample_need_once")
        ]

    def __str__(self) -> str:
        return f"{self.service} {self.type}"
