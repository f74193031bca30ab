"""Deployment: (project, service, zone, version)."""

from django.db import models

from projects.models.project import Project


class Deployment(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="deployments")
    service = models.CharField(max_length=255)
    zone = models.CharField(max_length=512, blank=True)
    version = models.CharField(max_length=512, blank=True)
    language = models.CharField(max_length=512, blank=True)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    # ProfileTypes that the deployment has a profile of; the first of any other is requested at
    # once.
    profiled = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "service", "zone", "version"], name="deployment_identity"
            )
        ]

    def __str__(self) -> str:
        return " ".join(filter(None, [self.service, self.version, self.zone]))
